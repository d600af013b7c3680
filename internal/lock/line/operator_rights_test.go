package line_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A run with the rights of a job obeys a pause: its steps need no more for that.
func TestARunWithTheRightsOfAJobObeysAPause(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	permit(t, []*redistest.Server{srv}, strings.Fields(lock.MinimalACL+" "+lock.WaitingACL)...)
	s := open(t, strings.Replace(srv.URL(), "://", "://jobs:pw@", 1))
	o := operating(t, srv.URL())
	held := locktest.Acquire(t, s, locktest.RequestFor("job"))
	waiter, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	change(t, o, desk(lock.ActPause))
	release(t, held)
	if busy := locktest.MustBeBusy(t, s, "job"); busy.Pause == nil {
		t.Errorf("%+v", busy)
	}
	change(t, o, desk(lock.ActResume))
	release(t, lease(t, waiter))
}

// deeds are what an operator with these rights gets done, and what is entered of it.
func deeds(t *testing.T, rights ...string) string {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{})
	permit(t, []*redistest.Server{srv}, rights...)
	o := operating(t, strings.Replace(srv.URL(), "://", "://jobs:pw@", 1))
	s := open(t, srv.URL())
	var done []string
	do := func(c lock.Change) {
		out, err := o.Change(t.Context(), "job", c)
		var denied *lock.UnavailableError
		if errors.As(err, &denied) {
			err = errors.New("denied")
		}
		done = append(done, fmt.Sprint(c.Act, out.Done, err))
	}
	req := inSlot(0)
	held := locktest.Acquire(t, s, req)
	waiter, stop := park(t, srv, s, inSlot(lock.Forever), 1)
	next := inSlot(lock.Forever)
	next.Slot.Name = "other"
	second, stopNext := park(t, srv, s, next, 2)
	locktest.Do(t, srv, "DEL", "redlockrun:jobs")
	do(desk(lock.ActPause))
	done = append(done, fmt.Sprint("listed by the pause: ", locktest.Do(t, srv, "EXISTS", "redlockrun:jobs")))
	do(desk(lock.ActStop))
	c := desk(lock.ActUnlock)
	c.Run = req.Holder.Run
	do(c)
	locktest.Do(t, srv, "HSET", jobKey+":slots", req.Slot.Name, "closed 5 "+testID("z")+"/web-9/ok/0/5")
	locktest.Do(t, srv, "CONFIG", "RESETSTAT")
	do(desk(lock.ActResume)) // dismisses the first, and hands over to the second
	done = append(done, fmt.Sprint("told: ", regexp.MustCompile(`cmdstat_publish:calls=[1-9]`).MatchString(
		locktest.Do(t, srv, "INFO", "commandstats").(string))))
	for _, entry := range locktest.Do(t, srv, "LRANGE", jobKey+":runs", 0, -1).([]any) {
		e, _ := wire.ReadEntry(entry.(string))
		done = append(done, string(e.Act)+string(e.End))
	}
	unlocked, bad := locktest.Do(t, srv, "HGET", jobKey+":job", "count:unlocked"),
		locktest.Do(t, srv, "LLEN", jobKey+":bad")
	done = append(done, fmt.Sprint("unlocked: ", unlocked, bad))
	done = append(done, fmt.Sprint("in line: ", inLine(t, srv, "job"), locktest.Do(t, srv, "HLEN", jobKey+":waiters")))
	stop(errLeave)
	stopNext(errLeave)
	for _, r := range []result{got(t, waiter), got(t, second)} {
		if r.lease != nil {
			r.lease.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
		}
	}
	held.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
	locktest.Do(t, srv, "DEL", jobKey)
	do(desk(lock.ActForget))
	done = append(done, fmt.Sprint("listed: ", locktest.Do(t, srv, "EXISTS", "redlockrun:jobs")))
	return strings.Join(done, ", ")
}

var errLeave = errors.New("it leaves")

func TestTheRightsOfAnOperatorSufficeAndAreNeeded(t *testing.T) {
	t.Parallel()
	rights := strings.Fields(lock.OperatorACL)
	all := deeds(t, rights...)
	if strings.Contains(all, "denied") || !strings.Contains(all, "unlocked: 1") ||
		!strings.Contains(all, " listed: 0") ||
		!strings.Contains(all, "told: true") {
		t.Fatal(all)
	}
	for i, right := range rights {
		t.Run("without "+right, func(t *testing.T) {
			t.Parallel()
			less := append(append([]string{}, rights[:i]...), rights[i+1:]...)
			if got := deeds(t, less...); got == all {
				t.Errorf("nothing is missing: %s", got)
			}
		})
	}
}

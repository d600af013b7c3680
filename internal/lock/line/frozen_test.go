package line_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func frozen(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSuffix(locktest.Frozen(t, "line", name), "\n")
}

// TestFreeze writes what this release sends and leaves in a server, if that is wanted.
func TestFreeze(t *testing.T) {
	if !locktest.Freezing() {
		return
	}
	for _, step := range []string{"acquire", "confirm", "renew", "retake", "release"} {
		locktest.Freeze(t, "line", step+".lua", line.Present(step))
	}
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	write := func(name string, words ...any) {
		locktest.Freeze(t, "line", name, locktest.Still(locktest.Do(t, srv, words...)))
	}
	req, next := locktest.RequestFor("job"), waits("job", lock.Forever)
	req.Holder, next.Holder = locktest.FrozenHolder(), locktest.FrozenHolder()
	next.Holder.Run = strings.Repeat("N", lock.RunIDLen)
	l := locktest.Acquire(t, s, req)
	write("lock.json", "GET", jobKey)
	write("fence", "GET", jobKey+":fence")
	locktest.Freeze(t, "line", "fence-floor", "1763790000123 p2\n") // which nobody writes yet
	_, stop := park(t, srv, s, next, 1)
	write("ticket", "ZSCORE", jobKey+":queue", next.Holder.Run)
	write("waiter", "HGET", jobKey+":waiters", next.Holder.Run)
	write("looks", "HGET", jobKey+":waiters", "looks")
	stop(context.Canceled)
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: time.Hour}))
	write("lock-ended.json", "GET", jobKey)
	late := steps{t: t, server: srv, text: line.Present}
	late.keep("a", 0, 60000)
	write("tombstone", "GET", "{n}:gone:"+testID("a"))
}

func TestFrozenRecordsAreRead(t *testing.T) {
	locktest.Advise(t)
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, srv.URL())
	want := locktest.FrozenHolder()
	want.Protocol = 1
	for _, ended := range []bool{false, true} {
		name := "lock.json"
		if ended {
			name, want.Ended = "lock-ended.json", time.UnixMilli(1763790000123)
		}
		locktest.Do(t, srv, "SET", jobKey, frozen(t, name), "PX", 60_000)
		held := locktest.MustBeBusy(t, s, "job")
		if held.Holder != want || held.Since.IsZero() != ended {
			t.Errorf("%s is read as %+v since %v", name, held.Holder, held.Since)
		}
		req := locktest.RequestFor("job")
		req.Holder = locktest.FrozenHolder()
		l, err := s.Acquire(t.Context(), req)
		if (err == nil) == ended {
			t.Errorf("%s is acquired by its run: %v", name, err)
		}
		if err == nil {
			locktest.Renew(t, l)
			release(t, l)
		}
	}
}

func TestFrozenFencesAreExceeded(t *testing.T) {
	locktest.Advise(t)
	srv := redistest.Start(t, redistest.Options{})
	last, err := strconv.ParseInt(frozen(t, "fence"), 10, 64)
	locktest.Must(t, err)
	locktest.Do(t, srv, "SET", jobKey+":fence", last+1<<50)
	l := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
	if l.Fence() != last+1<<50+1 {
		t.Errorf("fence %d", l.Fence())
	}
}

func TestOlderReleasesObeyAFrozenFloor(t *testing.T) {
	if wire.Protocol > 1 {
		return
	}
	locktest.Advise(t)
	s := newSteps(t)
	s.do("SET", "{n}:fence", frozen(t, "fence-floor"))
	for _, text := range []func(string) string{line.Present, locktest.FrozenStep(t, "line", line.Present)} {
		s.text = text
		if got := s.code(s.once("a"), -3); got[1] != int64(2) {
			t.Errorf("answered %v", got)
		}
	}
}

func TestFrozenLinesAreServed(t *testing.T) {
	locktest.Advise(t)
	s := newFrozenLine(t)
	s.release("a")
	s.want("N", "")
	s.code(s.confirm("N"), 2)
	if h, _ := wire.ReadRecord(s.do("GET", "{n}").(string), time.Now().UnixMilli(), nil); h.Host != "web-3" ||
		h.Command != "php" {
		t.Errorf("%+v", h)
	}
}

// newFrozenLine is a lock of a for which a frozen waiter stands in line, and listens.
func newFrozenLine(t *testing.T) steps {
	t.Helper()
	s := steps{t: t, server: redistest.Start(t, redistest.Options{}), text: line.Present}
	s.once("a")
	s.listen("N")
	s.do("ZADD", "{n}:queue", frozen(t, "ticket"), testID("N"))
	s.do("HSET", "{n}:waiters", testID("N"), frozen(t, "waiter"), "looks", frozen(t, "looks"))
	return s
}

func TestFrozenTombstonesAreHeeded(t *testing.T) {
	locktest.Advise(t)
	s := steps{t: t, server: redistest.Start(t, redistest.Options{}), text: line.Present}
	s.do("SET", "{n}:gone:"+testID("a"), frozen(t, "tombstone"))
	s.code(s.once("a"), 4)
}

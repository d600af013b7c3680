package quorum

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
)

// operating is what changes the jobs of a quorum.
func operating(t *testing.T, urls []string) lock.Operator {
	t.Helper()
	o, err := OpenOperator(lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix}, lock.Inspection{})
	locktest.Must(t, err)
	return o
}

// desk is an operator with a change of their own.
func desk(act lock.Act) lock.Change { return locktest.ChangeFor(act) }

// to is a change that is meant for one run.
func to(run string, act lock.Act) lock.Change {
	c := desk(act)
	c.Run = run
	return c
}

func made(t *testing.T, o lock.Operator, c lock.Change) lock.ChangeResult {
	t.Helper()
	out, err := o.Change(t.Context(), "job", c)
	if err != nil {
		t.Fatalf("%s: %v", c.Act, err)
	}
	return out
}

// mustDo makes a change that is to be done now, or to have been done before.
func mustDo(t *testing.T, o lock.Operator, c lock.Change, now bool) lock.ChangeResult {
	t.Helper()
	out := made(t, o, c)
	if out.Done != now {
		t.Errorf("%s: done now is %v: %+v", c.Act, out.Done, out)
	}
	return out
}

func mustRefuse(t *testing.T, o lock.Operator, c lock.Change, want lock.Objection) {
	t.Helper()
	var no *lock.RefusedError
	if _, err := o.Change(t.Context(), "job", c); !errors.As(err, &no) || no.Refusal != want {
		t.Fatalf("%s: %v, not refusal %d", c.Act, err, want)
	}
}

func give(t *testing.T, l lock.Lease) {
	t.Helper()
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
}

func mustBePaused(t *testing.T, s lock.Store) {
	t.Helper()
	if held := locktest.MustBeBusy(t, s, "job"); held.Pause == nil || held.Pause.By != "alice@desk" ||
		held.Pause.Reason != "deploy 7" {
		t.Errorf("%+v", held)
	}
}

// fleets are quorums of which a minority is away.
func fleets(t *testing.T, test func(t *testing.T, all servers, s lock.Store, o lock.Operator, absent int)) {
	for _, n := range []int{3, 5} {
		for _, away := range []string{"none", "down", "frozen"} {
			t.Run(fmt.Sprintf("%d servers, %s away", n, away), func(t *testing.T) {
				t.Parallel()
				all, s := startDurable(t, n)
				absent := 0
				if away != "none" {
					absent = n - lock.Majority(n)
				}
				for _, srv := range all[n-absent:] {
					if away == "down" {
						srv.Kill()
					} else {
						locktest.Must(t, srv.Signal(syscall.SIGSTOP))
					}
				}
				test(t, all, s, operating(t, all.urls()), absent)
			})
		}
	}
}

func TestAPauseOfAQuorumIsAHolder(t *testing.T) {
	fleets(t, func(t *testing.T, _ servers, s lock.Store, o lock.Operator, absent int) {
		if out := mustDo(t, o, desk(lock.ActPause), true); out.Pause == nil || out.Pause.Reason != "deploy 7" ||
			len(out.Absent) != absent {
			t.Errorf("%+v", out)
		}
		mustDo(t, o, desk(lock.ActPause), false)
		mustBePaused(t, s)
		c := desk(lock.ActResume)
		c.MatchReason, c.PauseReason = true, "another"
		mustRefuse(t, o, c, lock.OtherPause)
		c.PauseReason = "deploy 7"
		if out := mustDo(t, o, c, true); out.Pause == nil {
			t.Errorf("%+v", out)
		}
		mustDo(t, o, desk(lock.ActResume), false)
		give(t, locktest.Acquire(t, s, locktest.RequestFor("job")))
	})
}

// What runs runs on, and is repaired; then the pause has the lock.
func TestAPauseTakesTheLockOfAQuorumWhenItBecomesFree(t *testing.T) {
	fleets(t, func(t *testing.T, all servers, s lock.Store, o lock.Operator, absent int) {
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, s, req)
		if absent == 0 {
			renewUntilWhole(t, l)
			locktest.Do(t, all[0], "DEL", jobKey)
		}
		if out := mustDo(t, o, desk(lock.ActPause), true); out.Holder.Run != req.Holder.Run || out.At.IsZero() ||
			out.Left <= 0 {
			t.Errorf("%+v", out)
		}
		locktest.Renew(t, l)
		if absent == 0 {
			renewUntilWhole(t, l)
		}
		give(t, l)
		mustBePaused(t, s)
		mustBePaused(t, s)
		mustDo(t, o, desk(lock.ActResume), true)
		give(t, locktest.Acquire(t, s, locktest.RequestFor("job")))
	})
}

func TestAPauseOfAQuorumEndsByItself(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	c := desk(lock.ActPause)
	c.For = 500 * time.Millisecond
	made(t, operating(t, all.urls()), c)
	req := locktest.RequestFor("job")
	req.Wait.Limit = locktest.Patience
	give(t, locktest.Acquire(t, s, req))
}

func TestAPauseAtAMinorityHindersNobody(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	made(t, o, desk(lock.ActPause))
	for _, srv := range all[1:] {
		locktest.Do(t, srv, "FLUSHALL")
	}
	l := acquireWhole(t, s, locktest.RequestFor("job"))
	if out := mustDo(t, o, to(lock.NewRunID(), lock.ActResume), true); out.Pause == nil || out.Holder.Run == "" {
		t.Errorf("%+v", out)
	}
	give(t, l)
	all.mustKeepOnly(t, "job", "jobs", "runs")
}

func TestARunThatIgnoresPausesOfAQuorum(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	made(t, o, desk(lock.ActPause))
	mustBePaused(t, s) // the pause has the lock now
	req := locktest.RequestFor("job")
	req.IgnorePause = true
	l := locktest.Acquire(t, s, req)
	if held := locktest.MustBeBusy(t, s, "job"); held.Holder.Run != req.Holder.Run {
		t.Errorf("%+v", held)
	}
	give(t, l)
	mustBePaused(t, s)
}

// A slot's answer comes before that of a pause.
func TestADoneSlotIsDoneWhileAQuorumIsPaused(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	first := forSlot(tick)
	runs(t, s, first, endedBy(lock.EndOk, 0))
	made(t, operating(t, all.urls()), desk(lock.ActPause))
	mustBeDone(t, s, forSlot(tick), first.Holder.Run)
	if _, err := s.Acquire(t.Context(), forSlot(nextTick)); !errors.As(err, new(*lock.HeldError)) {
		t.Errorf("%v", err)
	}
}

func TestAStopReachesItsRunOfAQuorumAlone(t *testing.T) {
	fleets(t, func(t *testing.T, all servers, s lock.Store, o lock.Operator, absent int) {
		mustDo(t, o, desk(lock.ActStop), false)
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, s, req)
		mustRefuse(t, o, to(lock.NewRunID(), lock.ActStop), lock.OtherRun)
		locktest.Renew(t, l)
		if l.StopAsked() {
			t.Error("stopped by what was meant for another")
		}
		if out := mustDo(t, o, desk(lock.ActStop), true); out.Holder.Run != req.Holder.Run ||
			len(out.Absent) != absent {
			t.Errorf("%+v", out)
		}
		mustDo(t, o, to(req.Holder.Run, lock.ActStop), false)
		locktest.Renew(t, l)
		if !l.StopAsked() {
			t.Error("the renewal did not bring it")
		}
		give(t, l)
		next := locktest.Acquire(t, s, locktest.RequestFor("job"))
		locktest.Renew(t, next)
		if next.StopAsked() {
			t.Error("the next run is stopped, too")
		}
		give(t, next)
	})
}

// Whichever master is marked is believed, and a master that is repaired keeps its mark.
func TestAnyMastersMarkStopsARun(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 5)
	o := operating(t, all.urls())
	l := acquireWhole(t, s, locktest.RequestFor("job"))
	made(t, o, desk(lock.ActStop))
	var marked string
	for i, srv := range all {
		value := locktest.Do(t, srv, "GET", jobKey).(string)
		if strings.Count(value, `,"stop":"`) != 1 || locktest.HolderOf(value).Stop == "" {
			t.Errorf("server %d has %s", i, value)
		}
		if i == 0 {
			marked = value
			continue
		}
		locktest.Do(t, srv, "SET", jobKey, value[:65]+value[101:], "PX", 60_000)
	}
	q := l.(*quorumLease)
	q.dropKey(0)
	q.repair(t.Context(), 0, q.nextTerm())
	value := locktest.Do(t, all[0], "GET", jobKey).(string)
	if value == marked || locktest.HolderOf(value).Stop != locktest.HolderOf(marked).Stop {
		t.Errorf("repaired, it has %s", value)
	}
	locktest.Renew(t, l)
	q.work.Wait()
	if !l.StopAsked() {
		t.Error("not stopped")
	}
	give(t, l)
}

// A min-hold that is left of a stopped run is the ended run's, mark and all.
func TestAStoppedRunsMinHoldAtAQuorum(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	l := acquireWhole(t, s, locktest.RequestFor("job"))
	made(t, o, desk(lock.ActStop))
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: time.Hour}))
	if busy := locktest.MustBeBusy(t, s, "job"); busy.Holder.Ended.IsZero() || busy.Holder.Stop == "" {
		t.Errorf("%+v", busy)
	}
	if out := mustDo(t, o, desk(lock.ActStop), false); out.Holder.Ended.IsZero() {
		t.Errorf("%+v", out)
	}
	c := to(locktest.MustBeBusy(t, s, "job").Holder.Run, lock.ActUnlock)
	c.OnlyEnded = true
	mustDo(t, o, c, true)
	give(t, locktest.Acquire(t, s, locktest.RequestFor("job")))
}

func TestAStopThatPausesLetsNobodyStart(t *testing.T) {
	fleets(t, func(t *testing.T, all servers, s lock.Store, o lock.Operator, absent int) {
		l := locktest.Acquire(t, s, locktest.RequestFor("job"))
		c := desk(lock.ActStop)
		c.ThenPause = true
		if out := mustDo(t, o, c, true); out.Pause == nil {
			t.Errorf("%+v", out)
		}
		locktest.Renew(t, l)
		if !l.StopAsked() {
			t.Error("not stopped")
		}
		give(t, l)
		mustBePaused(t, s)
		mustDo(t, o, desk(lock.ActResume), true)
		c = desk(lock.ActStop)
		c.ThenPause = true
		mustDo(t, o, c, false) // nobody runs
		mustBePaused(t, s)
	})
}

func TestUnlockTakesTheLockOfAQuorumFromOneRunAlone(t *testing.T) {
	fleets(t, func(t *testing.T, all servers, s lock.Store, o lock.Operator, absent int) {
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, s, req)
		locktest.Renew(t, l)
		mustRefuse(t, o, to(lock.NewRunID(), lock.ActUnlock), lock.OtherRun)
		c := to(req.Holder.Run, lock.ActUnlock)
		c.OnlyEnded = true
		mustRefuse(t, o, c, lock.StillRunning)
		c.OnlyEnded = false
		locktest.Do(t, all[0], "PEXPIRE", jobKey, 10_000)
		if out := mustDo(t, o, c, true); out.Holder.Run != c.Run || out.Left < 30*time.Second {
			t.Errorf("%+v", out)
		}
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); absent == 0 && !errors.Is(err, lock.ErrLost) ||
			err == nil {
			t.Errorf("renewed: %v", err)
		}
		next := locktest.Acquire(t, s, locktest.RequestFor("job"))
		mustRefuse(t, o, c, lock.OtherRun)
		locktest.Renew(t, next)
		give(t, next)
	})
}

func TestUnlockOfAForeignValueOfAQuorum(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	for _, srv := range all {
		locktest.Do(t, srv, "SET", jobKey, "somebody's")
	}
	mustRefuse(t, o, desk(lock.ActStop), lock.NotOurs)
	mustRefuse(t, o, to(lock.NewRunID(), lock.ActUnlock), lock.OtherRun)
	if out := mustDo(t, o, to("", lock.ActUnlock), true); out.Holder.Foreign != "somebody's" || out.Left >= 0 {
		t.Errorf("%+v", out)
	}
	l := acquireWhole(t, s, locktest.RequestFor("job"))
	mustRefuse(t, o, to("", lock.ActUnlock), lock.OtherRun) // it is no foreign value now
	give(t, l)
}

func TestForgetLeavesTheLockOfAQuorum(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	req := forSlot(tick)
	req.History = 50
	l := acquireWhole(t, s, req)
	mustRefuse(t, o, desk(lock.ActForget), lock.StillHeld)
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), endedBy(lock.EndOk, 0)))
	made(t, o, desk(lock.ActPause))
	mustRefuse(t, o, desk(lock.ActForget), lock.StillPaused)
	made(t, o, desk(lock.ActResume))
	locktest.Must(t, all[2].Signal(syscall.SIGSTOP))
	var down *lock.UnavailableError
	_, err := o.Change(t.Context(), "job", desk(lock.ActForget))
	if !errors.As(err, &down) || !strings.Contains(err.Error(), "3 of 3 are needed") {
		t.Errorf("forgotten by two of three: %v", err)
	}
	locktest.Must(t, all[2].Signal(syscall.SIGCONT))
	locktest.Until(t, "it goes on", func() bool { _, err := all[2].Do("PING"); return err == nil })
	made(t, o, desk(lock.ActForget)) // the frozen one may have done it late
	mustDo(t, o, desk(lock.ActForget), false)
	all.mustKeepOnly(t)
}

func TestChangesOfAQuorumNeedAMajority(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	req := locktest.RequestFor("job")
	locktest.Acquire(t, s, req)
	all[1].Kill()
	all[2].Kill()
	in := lock.Inspection{Timeout: time.Second}
	o, err := OpenOperator(lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix}, in)
	locktest.Must(t, err)
	for _, act := range []lock.Act{lock.ActPause, lock.ActResume, lock.ActStop, lock.ActUnlock, lock.ActForget} {
		if _, err := o.Change(t.Context(), "job", to(req.Holder.Run, act)); !errors.As(err,
			new(*lock.UnavailableError)) {
			t.Errorf("%s: %v", act, err)
		}
	}
}

func TestPauseAndResumeOfAQuorumWorkOutOfMemory(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	l := acquireWhole(t, s, locktest.RequestFor("job"))
	for _, srv := range all {
		locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
	}
	mustDo(t, o, desk(lock.ActPause), true)
	mustDo(t, o, desk(lock.ActStop), true)
	give(t, l)
	mustBePaused(t, s)
	mustDo(t, o, desk(lock.ActResume), true)
}

// A key of pauses that holds no pause is an error, and is never copied into the lock of a master.
func TestAPauseThatIsNoneNeverGetsTheLock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ write, value, what string }{
		{"LPUSH", "x", "a list"},
		{"SET", "nonsense", "a string"},
	} {
		all, s := startDurable(t, 3)
		o := operating(t, all.urls())
		for _, srv := range all[:2] {
			locktest.Do(t, srv, c.write, jobPaused, c.value)
		}
		var wrong *lock.NotLockError
		if _, err := s.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, &wrong) ||
			wrong.Key != jobPaused {
			t.Errorf("%s: acquired: %v", c.what, err)
		}
		_, err := o.Change(t.Context(), "job", desk(lock.ActPause))
		if !errors.As(err, &wrong) || wrong.Key != jobPaused || wrong.What != c.what {
			t.Errorf("%s: paused: %v", c.what, err)
		}
		for _, srv := range all[:2] {
			if value := locktest.Do(t, srv, "GET", jobKey); value != nil {
				t.Errorf("%s: the lock has become %q", c.what, value)
			}
		}
	}
}

// A change whose replies are lost is asked for again, and is told that it is done.
func TestLostRepliesOfChangesOfAQuorum(t *testing.T) {
	t.Parallel()
	_, proxies, s := startBehindProxies(t, 3)
	var urls []string
	for _, p := range proxies {
		urls = append(urls, p.URL())
	}
	o := operating(t, urls)
	do := func(c lock.Change) {
		t.Helper()
		for _, p := range proxies {
			p.LoseReply(c.By.Run)
		}
		mustDo(t, o, c, true)
	}
	do(desk(lock.ActPause))
	do(desk(lock.ActResume))
	req := entered()
	l := acquireWhole(t, s, req)
	do(to(req.Holder.Run, lock.ActStop))
	do(to(req.Holder.Run, lock.ActUnlock))
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
	made(t, o, desk(lock.ActForget))
}

// An unlock that is asked again meets a run that has repaired what it lost.
func TestARunThatIsUnlockedTwiceIsEnteredOnceAtEachMaster(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	req := entered()
	q := acquireWhole(t, s, req).(*quorumLease)
	unlock := to(req.Holder.Run, lock.ActUnlock)
	mustDo(t, o, unlock, true)
	for i := range all {
		q.repair(t.Context(), i, q.nextTerm())
	}
	mustDo(t, o, unlock, true)
	for i, srv := range all {
		runs := fmt.Sprint(locktest.Do(t, srv, "LRANGE", jobKey+":bad", 0, -1))
		if n := strings.Count(runs, " unlocked "); n != 1 {
			t.Errorf("server %d has entered %d times that it was unlocked: %s", i, n, runs)
		}
	}
}

func TestActsAreEnteredAtEachMaster(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	o := operating(t, all.urls())
	req := entered()
	acquireWhole(t, s, req)
	for _, c := range []lock.Change{desk(lock.ActPause), desk(lock.ActResume), desk(lock.ActStop),
		to(req.Holder.Run, lock.ActUnlock)} {
		mustDo(t, o, c, true)
	}
	in, _ := inspecting(t, all)
	runs, err := in.Runs(t.Context(), "job", false)
	locktest.Must(t, err)
	var got []string
	for _, e := range runs {
		got = append(got, string(e.Act)+string(e.End))
		if e.Act != "" && (e.Reason != "deploy 7" || e.User != "alice") {
			t.Errorf("%+v", e)
		}
	}
	if text := strings.Join(got, " "); text != "unlock unlocked stop resume pause" {
		t.Error(text)
	}
	if j, err := in.Job(t.Context(), "job"); err != nil || j.State != lock.StateIdle || j.Stopped.Act != lock.ActStop {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestAnOperatorsRightsSufficeForAQuorum(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	var urls []string
	for _, srv := range all {
		locktest.Do(t, srv, aclOf("desk", lock.OperatorACL)...)
		urls = append(urls, strings.Replace(srv.URL(), "redis://", "redis://desk:secret@", 1))
	}
	o := operating(t, urls)
	req := entered()
	acquireWhole(t, s, req)
	for _, c := range []lock.Change{
		desk(lock.ActPause), desk(lock.ActResume), desk(lock.ActStop), to(req.Holder.Run, lock.ActUnlock),
		desk(lock.ActForget),
	} {
		mustDo(t, o, c, true)
	}
	for i, srv := range all {
		if log := locktest.Do(t, srv, "ACL", "LOG").([]any); len(log) > 0 {
			t.Errorf("server %d refused %v", i, log)
		}
	}
}

func aclOf(user, rights string) []any {
	words := []any{"ACL", "SETUSER", user, "on", ">secret", "resetkeys", "resetchannels"}
	for _, w := range strings.Fields(rights) {
		words = append(words, w)
	}
	return words
}

package line_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// operating is what changes the jobs of a server.
func operating(t *testing.T, url string) lock.Operator {
	t.Helper()
	o, err := line.OpenOperator(lock.Servers{URLs: []string{url}, Prefix: lock.DefaultPrefix}, lock.Inspection{})
	locktest.Must(t, err)
	return o
}

// desk is an operator with a change of their own.
func desk(act lock.Act) lock.Change { return locktest.ChangeFor(act) }

func change(t *testing.T, o lock.Operator, c lock.Change) lock.ChangeResult {
	t.Helper()
	out, err := o.Change(t.Context(), "job", c)
	if err != nil {
		t.Fatalf("%s: %v", c.Act, err)
	}
	return out
}

func refused(t *testing.T, o lock.Operator, c lock.Change, want lock.Objection) {
	t.Helper()
	var no *lock.RefusedError
	if _, err := o.Change(t.Context(), "job", c); !errors.As(err, &no) || no.Refusal != want {
		t.Fatalf("%s: %v, not refusal %d", c.Act, err, want)
	}
}

func acts(t *testing.T, srv *redistest.Server) string {
	t.Helper()
	var all []string
	for _, text := range locktest.Do(t, srv, "LRANGE", jobKey+":runs", 0, -1).([]any) {
		if e, ok := wire.ReadEntry(text.(string)); ok && e.Act != "" {
			all = append(all, fmt.Sprintf("%s by %s@%s: %s", e.Act, e.User, e.Host, e.Reason))
		}
	}
	return strings.Join(all, ", ")
}

func TestAPauseIsAHolder(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	o := operating(t, srv.URL())
	if out := change(t, o, desk(lock.ActPause)); !out.Done || out.Pause == nil || out.Pause.By != "alice@desk" ||
		out.Pause.Reason != "deploy 7" {
		t.Errorf("%+v", out)
	}
	if again := change(t, o, desk(lock.ActPause)); again.Done || again.Pause == nil {
		t.Errorf("paused twice: %+v", again)
	}
	held := locktest.MustBeBusy(t, s, "job")
	if held.Pause == nil || held.Pause.Reason != "deploy 7" || held.TTL <= 0 || held.TTL > time.Hour {
		t.Errorf("%+v", held)
	}
	first, second := parkTwo(t, srv, s)
	if out := change(t, o, desk(lock.ActResume)); !out.Done || out.Pause == nil {
		t.Errorf("%+v", out)
	}
	release(t, lease(t, first))
	release(t, lease(t, second))
	if again := change(t, o, desk(lock.ActResume)); again.Done {
		t.Errorf("resumed twice: %+v", again)
	}
	if got := acts(t, srv); got != "resume by alice@desk: deploy 7, pause by alice@desk: deploy 7" {
		t.Error(got)
	}
}

// What runs runs on; then the pause has the lock, and the line keeps its order.
func TestAPauseTakesTheLockWhenItBecomesFree(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	o := operating(t, srv.URL())
	first, second := parkTwo(t, srv, s)
	if out := change(t, o, desk(lock.ActPause)); !out.Done || out.Holder.Host != "web-3" || out.Next.Host != "web-3" {
		t.Errorf("%+v", out)
	}
	renewOnce(t, held)
	release(t, held)
	if pause := locktest.MustBeBusy(t, s, "job"); pause.Pause == nil {
		t.Errorf("%+v", pause)
	}
	wantInLine(t, srv, 2)
	change(t, o, desk(lock.ActResume))
	release(t, lease(t, first))
	release(t, lease(t, second))
}

func TestAPauseEndsByItself(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	c := desk(lock.ActPause)
	c.For = 500 * time.Millisecond
	change(t, operating(t, srv.URL()), c)
	release(t, locktest.Acquire(t, s, waits("job", locktest.Patience)))
}

func TestARunThatIgnoresPauses(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	o := operating(t, srv.URL())
	change(t, o, desk(lock.ActPause))
	locktest.MustBeBusy(t, s, "job") // the pause has the lock now
	waiter, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	for _, limit := range []time.Duration{0, locktest.Patience} {
		req := waits("job", limit)
		req.IgnorePause = true
		l := locktest.Acquire(t, s, req)
		locktest.MustBeBusy(t, s, "job")
		release(t, l)
		if held := locktest.MustBeBusy(t, s, "job"); held.Pause == nil {
			t.Errorf("after it: %+v", held)
		}
	}
	wantInLine(t, srv, 1)
	change(t, o, desk(lock.ActResume))
	release(t, lease(t, waiter))
}

// Who had ignored the pause has died; the pause has not taken the lock again yet, as nobody has looked since.
func TestResumeOfAFreeLockIsTheFirstOnesTurn(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	o := operating(t, srv.URL())
	change(t, o, desk(lock.ActPause))
	waiter, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	locktest.Do(t, srv, "DEL", jobKey)
	change(t, o, desk(lock.ActResume))
	if locktest.Do(t, srv, "EXISTS", jobKey) != int64(1) {
		t.Error("nobody has the lock, though somebody waits")
	}
	release(t, lease(t, waiter))
}

func TestResumeOfOnePauseAlone(t *testing.T) {
	t.Parallel()
	srv, _ := served(t)
	o := operating(t, srv.URL())
	change(t, o, desk(lock.ActPause))
	c := desk(lock.ActResume)
	c.MatchReason, c.PauseReason = true, "another"
	refused(t, o, c, lock.OtherPause)
	c.PauseReason = "deploy 7"
	if !change(t, o, c).Done {
		t.Error("not resumed")
	}
}

func TestPauseAndResumeWorkOutOfMemory(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	o := operating(t, srv.URL())
	waiter, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
	change(t, o, desk(lock.ActPause))
	release(t, held)
	if value, _ := locktest.Do(t, srv, "GET", jobKey).(string); wire.ReadPause(value) == nil {
		t.Errorf("the lock has %q", value)
	}
	change(t, o, desk(lock.ActResume))
	release(t, lease(t, waiter))
}

func TestAStopReachesItsRunAlone(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	o := operating(t, srv.URL())
	other := desk(lock.ActStop)
	other.Run = lock.NewRunID()
	refused(t, o, other, lock.OtherRun)
	renewOnce(t, held)
	if held.StopAsked() {
		t.Error("stopped by what was meant for another")
	}
	waiter, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	if out := change(t, o, desk(lock.ActStop)); !out.Done || out.Holder.Host != "web-3" || out.Next.Run == "" {
		t.Errorf("%+v", out)
	}
	if again := change(t, o, desk(lock.ActStop)); again.Done {
		t.Errorf("stopped twice: %+v", again)
	}
	renewOnce(t, held)
	if !held.StopAsked() {
		t.Error("the renewal did not bring it")
	}
	release(t, held)
	l := lease(t, waiter)
	renewOnce(t, l)
	if l.StopAsked() {
		t.Error("the next run is stopped, too")
	}
	release(t, l)
	if out := change(t, o, desk(lock.ActStop)); out.Done {
		t.Errorf("of an idle job: %+v", out)
	}
}

// A min-hold that is left of a stopped run is the ended run's, mark and all.
func TestAStoppedRunsMinHold(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	o := operating(t, srv.URL())
	change(t, o, desk(lock.ActStop))
	renewOnce(t, held)
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: time.Hour}))
	if busy := locktest.MustBeBusy(t, s, "job"); busy.Holder.Ended.IsZero() {
		t.Errorf("%+v", busy)
	}
	if out := change(t, o, desk(lock.ActStop)); out.Done {
		t.Errorf("an ended run is stopped: %+v", out)
	}
}

// A stop of a hand-over: its confirmation brings the mark, and nothing is started.
func TestAStopOfAHandOver(t *testing.T) {
	t.Parallel()
	srv, _, held := holding(t)
	req, p, first, _ := waitsBehind(t, srv, 1)
	arrive := p.Hold(ofRun(req))
	release(t, held)
	locktest.Until(t, "the hand-over", func() bool {
		value, _ := locktest.Do(t, srv, "GET", jobKey).(string)
		return strings.Contains(value, req.Holder.Run)
	})
	change(t, operating(t, srv.URL()), desk(lock.ActStop))
	arrive()
	if r := got(t, first); !errors.As(r.err, new(*lock.StoppedError)) {
		t.Errorf("%v", r.err)
	}
	free(t, srv)
}

func TestUnlockTakesTheLockFromOneRunAlone(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	o := operating(t, srv.URL())
	waiter, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	c := desk(lock.ActUnlock)
	c.Run = lock.NewRunID()
	refused(t, o, c, lock.OtherRun)
	c = desk(lock.ActUnlock)
	c.Run, c.OnlyEnded = runOf(t, srv), true
	refused(t, o, c, lock.StillRunning)
	c.OnlyEnded = false
	if out := change(t, o, c); !out.Done || out.Holder.Run != c.Run {
		t.Errorf("%+v", out)
	}
	if _, err := held.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("renewed: %v", err)
	}
	l := lease(t, waiter)
	refused(t, o, c, lock.OtherRun)
	renewOnce(t, l)
	release(t, l)
}

func runOf(t *testing.T, srv *redistest.Server) string {
	t.Helper()
	h, _, _ := wire.ReadHeld(locktest.Do(t, srv, "GET", jobKey).(string))
	return h.Run
}

func TestUnlockOfAForeignValue(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	o := operating(t, srv.URL())
	locktest.Do(t, srv, "SET", jobKey, "somebody's")
	refused(t, o, desk(lock.ActStop), lock.NotOurs)
	c := desk(lock.ActUnlock)
	c.Run = lock.NewRunID()
	refused(t, o, c, lock.OtherRun)
	c.Run = ""
	change(t, o, c)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	refused(t, o, c, lock.OtherRun) // it is no foreign value now
	release(t, l)
}

func TestForgetLeavesTheLock(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	o := operating(t, srv.URL())
	l := locktest.Acquire(t, s, inSlot(0))
	refused(t, o, desk(lock.ActForget), lock.StillHeld)
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	change(t, o, desk(lock.ActPause))
	refused(t, o, desk(lock.ActForget), lock.StillPaused)
	change(t, o, desk(lock.ActResume))
	if !change(t, o, desk(lock.ActForget)).Done || change(t, o, desk(lock.ActForget)).Done {
		t.Error("not once")
	}
	onlyFence(t, srv)
}

// A change whose reply is lost is asked for again, and is told that it is done.
func TestLostRepliesOfChanges(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	o := operating(t, p.URL())
	do := func(c lock.Change) {
		t.Helper()
		p.LoseReply(c.By.Run)
		if !change(t, o, c).Done {
			t.Errorf("%s: said to be not done", c.Act)
		}
	}
	do(desk(lock.ActPause))
	do(desk(lock.ActResume))
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	do(desk(lock.ActStop))
	c := desk(lock.ActUnlock)
	c.Run = runOf(t, srv)
	do(c)
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrLost) {
		t.Error(err)
	}
	do(desk(lock.ActForget))
}

// Who waits for a pause costs what it costs behind any holder, and starts when the pause
// ends, a day later.
func TestADayOfPause(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	clock := redistest.NewClock(t)
	srv := redistest.Start(t, redistest.Options{Clock: clock})
	s, o := open(t, srv.URL()), operating(t, srv.URL())
	c := desk(lock.ActPause)
	c.For = 24 * time.Hour
	change(t, o, c)
	locktest.MustBeBusy(t, s, "job") // the pause has the lock now
	const waiters = 5
	queue := parkMany(t, srv, s, waiters)
	before, began := evals(t, srv), time.Now()
	for each := range 3 {
		locktest.Until(t, "they have looked", func() bool { return evals(t, srv) >= before+(each+1)*waiters })
	}
	if took, least := time.Since(began), (3-1)*line.LookEvery; took < least {
		t.Errorf("three looks of each within %s", took)
	}
	locktest.Must(t, clock.Push(24*time.Hour)) // in one leap, in which the line is forgotten, too
	served := make(chan result, waiters)
	for _, done := range queue {
		go func() { served <- <-done }()
	}
	for range queue {
		release(t, lease(t, served))
	}
}

// A job whose line is something else is not forgotten, nor is its name in a Cluster.
func TestForgetOfWhatIsNoJobLeavesItsNameInACluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	at := func(key string) *redistest.Server { return c.Masters[c.Owner(key)] }
	const names = "redlockrun:jobs"
	locktest.Do(t, at(names), "ZADD", names, clockOf(steps{t: t, server: at(names)}), "job")
	locktest.Do(t, at(jobKey), "SET", jobKey+":queue", "x")
	cfg := clusterPlace(c).cfg
	cfg.Prefix = lock.DefaultPrefix
	o, err := line.OpenOperator(cfg, lock.Inspection{})
	locktest.Must(t, err)
	if _, err := o.Change(t.Context(), "job", desk(lock.ActForget)); !errors.As(err, new(*lock.NotLockError)) {
		t.Errorf("forgotten: %v", err)
	}
	if n := locktest.Do(t, at(names), "ZCARD", names); n != int64(1) {
		t.Error("its name is gone")
	}
}

// What is wanted as a pause, and is none, is never put into the lock, whatever frees it.
func TestAPauseThatIsNoneNeverGetsTheLock(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	held := locktest.Acquire(t, s, locktest.RequestFor("job"))
	locktest.Do(t, srv, "SET", jobKey+":paused", "nonsense")
	var wrong *lock.NotLockError
	pause := lock.Change{Act: lock.ActPause, By: lock.Holder{Run: lock.NewRunID()}, For: time.Hour}
	_, err := operating(t, srv.URL()).Change(t.Context(), "job", pause)
	if !errors.As(err, &wrong) || wrong.Key != jobKey+":paused" {
		t.Errorf("paused: %v", err)
	}
	locktest.Must(t, held.Release(t.Context(), lock.ReleaseRequest{}))
	if _, err = s.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, &wrong) ||
		wrong.Key != jobKey+":paused" {
		t.Errorf("acquired: %v", err)
	}
	if value := locktest.Do(t, srv, "GET", jobKey); value != nil {
		t.Errorf("the lock has become %q", value)
	}
	if value := locktest.Do(t, srv, "GET", jobKey+":paused"); value != "nonsense" {
		t.Errorf("%q was not left alone", value)
	}
}

// In a Cluster no step reaches the set of names: a run that goes on for a while makes it whole again beside its
// command,
// and a pause lists its job.
func TestTheNamesThatAClusterHasLostAreListedAgain(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	const names = "redlockrun:jobs"
	at := c.Masters[c.Owner(names)]
	isListed := func(name string) func() bool {
		return func() bool { return locktest.Do(t, at, "ZSCORE", names, name) != nil }
	}
	p := clusterPlace(c)
	p.cfg.Prefix = lock.DefaultPrefix
	s := p.open(t)
	for range 2 {
		req := locktest.RequestFor("job")
		req.History = 50
		l := locktest.Acquire(t, s, req)
		locktest.Until(t, "the job to be listed", isListed("job"))
		locktest.Until(t, "that to be noted", func() bool {
			return locktest.Do(t, c.Masters[c.Owner(jobKey)], "HGET", jobKey+":job", "listed") != nil
		})
		release(t, l)
		locktest.Do(t, at, "DEL", names)
	}
	o, err := line.OpenOperator(p.cfg, lock.Inspection{})
	locktest.Must(t, err)
	if _, err := o.Change(t.Context(), "never", desk(lock.ActPause)); err != nil || !isListed("never")() {
		t.Errorf("a paused job is not listed: %v", err)
	}
}

// Who ends all pauses finds that of a job that has never run.
func TestAPauseListsItsJob(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	o, s := operating(t, srv.URL()), open(t, srv.URL())
	if out := change(t, o, desk(lock.ActPause)); out.Ran {
		t.Error("it has run")
	}
	if locktest.Do(t, srv, "ZSCORE", "redlockrun:jobs", "job") == nil {
		t.Error("it is not listed")
	}
	change(t, o, desk(lock.ActResume))
	release(t, locktest.Acquire(t, s, locktest.RequestFor("job")))
	if out := change(t, o, desk(lock.ActPause)); !out.Ran {
		t.Error("it has not run")
	}
}

package permits_test

import (
	"errors"
	"slices"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/lock/quorum"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A desk is a store, and an operator who reads and changes its jobs.
type desk struct {
	t        *testing.T
	store    lock.Store
	jobs     lock.Inspector
	operator lock.Operator
}

// onEachStore runs a test on one server and on a quorum.
func onEachStore(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		s := lock.Servers{URLs: []string{redistest.Start(t, redistest.Options{}).URL()}, Prefix: lock.DefaultPrefix}
		test(t, deskAt(t, s, line.Open, line.OpenInspector, line.OpenOperator))
	})
	t.Run("quorum", func(t *testing.T) {
		t.Parallel()
		s := lock.Servers{URLs: redistest.StartMasters(t, 3, redistest.Options{}).URLs(), Prefix: lock.DefaultPrefix,
			Durable: true}
		test(t, deskAt(t, s, quorum.Open, quorum.OpenInspector, quorum.OpenOperator))
	})
}

func deskAt(t *testing.T, s lock.Servers, open func(lock.Servers) (lock.Store, error),
	inspector func(lock.Servers, lock.Inspection) (lock.Inspector, error),
	operator func(lock.Servers, lock.Inspection) (lock.Operator, error)) *desk {
	t.Helper()
	store, err := open(s)
	locktest.Must(t, err)
	jobs, err := inspector(s, lock.Inspection{})
	locktest.Must(t, err)
	change, err := operator(s, lock.Inspection{})
	locktest.Must(t, err)
	return &desk{t, store, permits.Inspect(jobs), permits.Operate(change, jobs)}
}

// hold takes some permits of job for one run.
func (d *desk) hold(history int, numbers ...int) (run string, leases []lock.Lease) {
	d.t.Helper()
	holder := locktest.RequestFor("job").Holder
	for i, n := range numbers {
		req := locktest.RequestFor(lock.PermitOf("job", n))
		req.Holder, req.History = holder, history
		req.Holder.Permits = 3
		if i > 0 {
			req.History = 0
		}
		leases = append(leases, locktest.Acquire(d.t, d.store, req))
	}
	return holder.Run, leases
}

func (d *desk) job() lock.Job {
	d.t.Helper()
	j, err := d.jobs.Job(d.t.Context(), "job")
	locktest.Must(d.t, err)
	return j
}

func (d *desk) change(act lock.Act, run string) lock.ChangeResult {
	d.t.Helper()
	c := locktest.ChangeFor(act)
	c.Run = run
	result, err := d.operator.Change(d.t.Context(), "job", c)
	locktest.Must(d.t, err)
	return result
}

func (d *desk) refused(c lock.Change, want lock.Objection) *lock.RefusedError {
	d.t.Helper()
	var refused *lock.RefusedError
	if _, err := d.operator.Change(d.t.Context(), "job", c); !errors.As(err, &refused) || refused.Refusal != want ||
		refused.Name != "job" {
		d.t.Fatalf("%s: %v, want refusal %d", c.Act, err, want)
	}
	return refused
}

func TestTheLocksOfANameWithPermitsAreOneJob(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		first, _ := d.hold(50, 1, 3)
		second, _ := d.hold(50, 2)
		names, err := d.jobs.Names(t.Context(), true)
		locktest.Must(t, err)
		if !slices.Equal(names, []string{"job"}) {
			t.Errorf("names: %q", names)
		}
		j := d.job()
		held, of := j.Taken()
		if j.Name != "job" || j.State != lock.StateRunning || held != 3 || of != 3 || len(j.Holders) != 2 {
			t.Fatalf("%+v", j)
		}
		if h := j.Holders[0]; h.Run != first || !slices.Equal(h.Numbers, []int{1, 3}) || j.Holder.Run != first {
			t.Errorf("the first holder: %+v", h)
		}
		if h := j.Holders[1]; h.Run != second || !slices.Equal(h.Numbers, []int{2}) {
			t.Errorf("the second holder: %+v", h)
		}
		jobs, err := d.jobs.Jobs(t.Context(), []string{"other", "job"})
		locktest.Must(t, err)
		if other := jobs[0]; other.Name != "other" || other.State != lock.StateIdle || len(jobs[1].Holders) != 2 {
			t.Errorf("%+v", jobs)
		}
	})
}

func TestAStopMeansOneRunOfSeveral(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		_, leases := d.hold(50, 1)
		second, others := d.hold(50, 2, 3)
		if no := d.refused(locktest.ChangeFor(lock.ActStop), lock.SeveralRuns); len(no.Holders) != 2 {
			t.Errorf("holders: %+v", no.Holders)
		}
		if result := d.change(lock.ActStop, second); !result.Done || result.Holder.Run != second {
			t.Errorf("%+v", result)
		}
		for i, lease := range append(leases, others...) {
			locktest.Renew(t, lease)
			if lease.StopAsked() != (i == 1) {
				t.Errorf("lease %d: stop asked %v", i, lease.StopAsked())
			}
		}
		locktest.Must(t, leases[0].Release(t.Context(), lock.ReleaseRequest{}))
		if result := d.change(lock.ActStop, ""); result.Holder.Run != second {
			t.Errorf("the only run: %+v", result)
		}
	})
}

func TestUnlockFreesEachPermitOfARun(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		first, _ := d.hold(50, 1)
		second, _ := d.hold(50, 2, 3)
		d.change(lock.ActUnlock, second)
		j := d.job()
		if held, _ := j.Taken(); held != 1 || j.Holder.Run != first {
			t.Errorf("%+v", j.Holders)
		}
		if j.LastEnd.Run != second || j.LastEnd.End != lock.EndUnlocked {
			t.Errorf("the last end: %+v", j.LastEnd)
		}
	})
}

func TestAPauseClosesTheGate(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		_, leases := d.hold(50, 1)
		result := d.change(lock.ActPause, "")
		if !result.Done || result.Pause == nil || len(result.Holders) != 1 {
			t.Errorf("%+v", result)
		}
		if held := locktest.MustBeBusy(t, d.store, lock.GateOf("job")); held.Pause == nil {
			t.Errorf("the gate: %+v", held)
		}
		if j := d.job(); j.State != lock.StateRunning || j.Pause == nil {
			t.Errorf("with a run: %s, %+v", j.State, j.Pause)
		}
		locktest.Must(t, leases[0].Release(t.Context(), lock.ReleaseRequest{}))
		if j := d.job(); j.State != lock.StatePaused {
			t.Errorf("without a run: %s", j.State)
		}
		if result := d.change(lock.ActResume, ""); !result.Done {
			t.Errorf("resume: %+v", result)
		}
		if j := d.job(); j.State != lock.StateIdle || j.Pause != nil {
			t.Errorf("at the end: %s, %+v", j.State, j.Pause)
		}
	})
}

// A job that has never run may have permits: its lock is paused, and its gate.
func TestAPauseOfAJobThatHasNeverRun(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		if result := d.change(lock.ActPause, ""); !result.Done || result.Ran {
			t.Errorf("%+v", result)
		}
		for _, name := range []string{"job", lock.GateOf("job")} {
			if held := locktest.MustBeBusy(t, d.store, name); held.Pause == nil {
				t.Errorf("%q: %+v", name, held)
			}
		}
		entries, err := d.jobs.Runs(t.Context(), "job", false)
		if locktest.Must(t, err); len(entries) != 1 || entries[0].Act != lock.ActPause {
			t.Errorf("%+v", entries)
		}
		if result := d.change(lock.ActResume, ""); !result.Done {
			t.Errorf("resume: %+v", result)
		}
		if j := d.job(); j.State != lock.StateIdle || j.Pause != nil {
			t.Errorf("at the end: %s, %+v", j.State, j.Pause)
		}
	})
}

func TestForgetRemovesEachPermit(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		_, leases := d.hold(50, 2)
		d.refused(locktest.ChangeFor(lock.ActForget), lock.StillHeld)
		locktest.Must(t, leases[0].Release(t.Context(), lock.ReleaseRequest{}))
		if result := d.change(lock.ActForget, ""); !result.Done {
			t.Errorf("%+v", result)
		}
		names, err := d.jobs.Names(t.Context(), false)
		if locktest.Must(t, err); len(names) > 0 {
			t.Errorf("names: %q", names)
		}
		if j := d.job(); j.LastEnd.Run != "" || len(j.Runs) > 0 {
			t.Errorf("%+v", j)
		}
	})
}

// The runs of a job are one history, whichever permits they had.
func TestTheHistoriesOfPermitsAreOne(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, d *desk) {
		var runs []string
		for _, n := range []int{2, 1, 2} {
			run, leases := d.hold(50, n, 3)
			end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 3}}
			for _, lease := range leases {
				locktest.Must(t, lease.Release(t.Context(), end))
			}
			runs = append([]string{run}, runs...)
		}
		entries, err := d.jobs.Runs(t.Context(), "job", true)
		locktest.Must(t, err)
		var got []string
		for _, e := range entries {
			got = append(got, e.Run)
		}
		if !slices.Equal(got, runs) {
			t.Errorf("got %q, want %q", got, runs)
		}
		j := d.job()
		if j.LastEnd.Run != runs[0] || j.Counts != nil && j.Counts[lock.EndFailed] != 3 || len(j.Runs) != 3 {
			t.Errorf("%+v", j)
		}
	})
}

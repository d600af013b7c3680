package quorum

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

const (
	jobKey   = "redlockrun:{job}"
	jobFence = jobKey + ":fence"
	floor    = "1763790000000 p2"
)

// startDurable starts n servers that may vote at once, and opens the quorum of them.
func startDurable(t *testing.T, n int) (all servers, store lock.Store) {
	t.Helper()
	for range n {
		all = append(all, breakLedger(t, redistest.Start(t, redistest.Options{})))
	}
	return all, openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true})
}

func TestFloorsOfAMastersFence(t *testing.T) {
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	for _, c := range locktest.Floors() {
		locktest.Do(t, srv, "SET", jobFence, c.Fence)
		before := locktest.Do(t, srv, "DUMP", jobFence)
		v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 2}, time.Now().UnixMilli())
		locktest.Must(t, err)
		want := map[int64]voteKind{1: granted, -2: notLock, -3: newer}[c.Code]
		if v.kind != want || want == newer && v.newer.Protocol != int(c.Protocol) {
			t.Errorf("%q is answered %+v", c.Fence, v)
		}
		if want != granted && (locktest.Do(t, srv, "DUMP", jobFence) != before ||
			locktest.Do(t, srv, "DBSIZE") != int64(1)) {
			t.Errorf("%q: something was written", c.Fence)
		}
		if want == granted && locktest.Do(t, srv, "GET", jobFence) != fmt.Sprint(v.fence) {
			t.Errorf("%q has become %v", c.Fence, locktest.Do(t, srv, "GET", jobFence))
		}
		locktest.Do(t, srv, "FLUSHALL")
	}
}

func FuzzFloorsOfAMastersFence(f *testing.F) {
	srv := redistest.Start(f, redistest.Options{})
	locktest.FuzzFloors(f, func(t *testing.T, fence string) (code, protocol int64) {
		locktest.Do(t, srv, "FLUSHALL")
		locktest.Do(t, srv, "SET", jobFence, fence)
		words := []any{"EVAL", presentText("grant"), wire.KeyCount}
		for _, key := range wire.KeysOf(lock.DefaultPrefix, "job", oneRun).All() {
			words = append(words, key)
		}
		args := step.Asker{Run: oneRun}.Args(term{round: 1}.String(), "00", `{"run":"`+oneRun+`",}`, 60000, 1, 0, 0, "")
		reply := locktest.Do(t, srv, append(words, args...)...).([]any)
		if reply[0] == int64(-3) {
			protocol = reply[1].(int64)
		}
		return reply[0].(int64), protocol
	})
}

// Neither step takes a floor away, or the lock where there is one.
func TestRepairAndBumpLeaveAFloorAlone(t *testing.T) {
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	ctx := locktest.Limited(t, locktest.Patience)
	mustGrant(t, m, term{round: 2})
	locktest.Do(t, srv, "SET", jobFence, floor)
	if done, err := m.bump(ctx, term{round: 2}, 1<<52); done || err != nil {
		t.Errorf("bumped: %v", err)
	}
	if s, _, err := m.renew(ctx, term{round: 2}); s != wire.Own || err != nil {
		t.Errorf("renewed: %d, %v", s, err)
	}
	if s, err := m.release(ctx, term{round: 2}.last(), releaseRequest{}); s != wire.Own || err != nil {
		t.Errorf("released: %d, %v", s, err)
	}
	if s, err := m.repair(ctx, term{round: 2, repair: 1}, 1<<52, 0); s != wire.Free || err != nil {
		t.Errorf("repaired: %d, %v", s, err)
	}
	if locktest.Do(t, srv, "GET", jobFence) != floor || locktest.Do(t, srv, "EXISTS", jobKey) != int64(0) {
		t.Error("something was written")
	}
}

func TestAFloorAtAMinorityHindersNobody(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 5)
	for _, s := range all[:2] {
		locktest.Do(t, s, "SET", jobFence, floor)
	}
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	for range 2 {
		locktest.Renew(t, l)
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	all.mustBeClean(t)
	for i, s := range all[:2] {
		if got := locktest.Do(t, s, "GET", jobFence); got != floor {
			t.Errorf("server %d: %v", i, got)
		}
	}
}

func TestAFloorAtAMajorityIsTold(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		all, store := startDurable(t, n)
		held := acquireWhole(t, store, locktest.RequestFor("job"))
		for i := range lock.Majority(n) {
			locktest.Do(t, all[i], "SET", jobFence, fmt.Sprint("1763790000000 p", 2+i))
		}
		locktest.MustBeBusy(t, store, "job")
		req, waiting := locktest.RequestFor("job"), make(chan struct{})
		req.Wait.Limit = lock.Forever
		req.OnBusy = func(*lock.HeldError) { waiting <- struct{}{} }
		told := make(chan error)
		go func() {
			_, err := store.Acquire(t.Context(), req)
			told <- err
		}()
		<-waiting
		locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
		err := afterLooks(t, waiting, told)
		var newer *lock.NewerError
		if !errors.As(err, &newer) || *newer != (lock.NewerError{Name: "job", Protocol: 1 + lock.Majority(n)}) {
			t.Errorf("%d servers: %v", n, err)
		}
		all.mustBeClean(t)
	}
}

// afterLooks is how a wait ends, however often it looks before.
func afterLooks(t *testing.T, looks <-chan struct{}, ended <-chan error) error {
	t.Helper()
	limit := time.After(locktest.Patience)
	for {
		select {
		case <-looks:
		case err := <-ended:
			return err
		case <-limit:
			t.Fatal("the wait has not ended")
		}
	}
}

func TestAMajorityOfNewerReleasesIsBusyAndMayBeWaitedFor(t *testing.T) {
	t.Parallel()
	all, store := startDurable(t, 3)
	run := lock.NewRunID()
	record := fmt.Sprintf(`{"run":"%s","vote":"00000001.00000000.00","v":%d,"new":{},"host":"next",`+
		`"pid":1,"user":"u","cmd":"c",`+
		`"start":1,"at":1000}`, run, wire.Protocol+1)
	take := func() {
		for _, s := range all {
			locktest.Do(t, s, "SET", jobKey, record, "PX", 60_000)
		}
	}
	take()
	if held := locktest.MustBeBusy(t, store, "job"); held.Holder.Run != run ||
		held.Holder.Protocol != wire.Protocol+1 ||
		held.Holder.Host != "next" {
		t.Errorf("%+v", held)
	}
	req := locktest.RequestFor("job")
	req.Wait.Limit = lock.Forever
	req.OnBusy = func(*lock.HeldError) { all.free(t) }
	l := locktest.Acquire(t, store, req)
	take()
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("renewed: %v", err)
	}
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("released: %v", err)
	}
	for i, s := range all {
		if got := locktest.Do(t, s, "GET", jobKey); got != record {
			t.Errorf("server %d: %v", i, got)
		}
	}
}

// In its last millisecond a pause has a PTTL of 0; of some hundred that live for one, a grant finds a few then.
func TestAPauseThatEndsTakesNoLockOfAMasterForEver(t *testing.T) {
	t.Parallel()
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	for range 500 {
		locktest.Do(t, srv, "FLUSHALL")
		locktest.Do(t, srv, "SET", jobKey+":paused",
			`{"pause":"`+oneRun+`","v":1,"by":"x","why":"","since":1,"until":2}`, "PX", 1)
		_, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 1}, time.Now().UnixMilli())
		locktest.Must(t, err)
		if locktest.Do(t, srv, "PTTL", jobKey) == int64(-1) {
			t.Fatalf("%v is kept for ever", locktest.Do(t, srv, "GET", jobKey))
		}
	}
}

// The same of a lease whose run an operator stops.
func TestAStopInTheLastMomentOfALeaseKeepsNoLockOfAMasterForEver(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	words := []any{"EVAL", changeStep(lock.ActStop).Text(), wire.KeyCount}
	for _, key := range wire.KeysOf(lock.DefaultPrefix, "job", otherRun).All() {
		words = append(words, key)
	}
	words = append(words, step.Asker{Run: otherRun, Words: "desk alice 7 redlockrun -", Name: "job",
		Names: "jobs"}.Args("why", oneRun, "",
		0)...)
	stopped := 0
	for range 500 {
		locktest.Do(t, srv, "FLUSHALL")
		locktest.Do(t, srv, "SET", jobKey, `{"run":"`+oneRun+`","vote":"00000001.00000000.00","v":1}`, "PX", 1)
		if locktest.Do(t, srv, words...).([]any)[0] == int64(step.Changed) {
			stopped++
		}
		if locktest.Do(t, srv, "PTTL", jobKey) == int64(-1) {
			t.Fatalf("%v is kept for ever", locktest.Do(t, srv, "GET", jobKey))
		}
	}
	if stopped == 0 {
		t.Error("no step came in time")
	}
}

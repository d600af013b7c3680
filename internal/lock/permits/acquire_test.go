package permits_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// serverStore returns a server, and its store of so many permits, of which runs take so many; 0: all.
func serverStore(t *testing.T, of, take int) (*redistest.Server, lock.Store) {
	t.Helper()
	s := redistest.Start(t, redistest.Options{})
	return s, storeAt(t, s.URL(), of, take)
}

func storeAt(t *testing.T, url string, of, take int) lock.Store {
	t.Helper()
	base, err := line.Open(lock.Servers{URLs: []string{url}, Prefix: lock.DefaultPrefix})
	locktest.Must(t, err)
	t.Cleanup(func() { base.Close() })
	return permits.New(base, permits.Claim{Of: of, Take: take, All: take == 0})
}

func release(t *testing.T, l lock.Lease) {
	t.Helper()
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
}

// waiting returns a request that waits, and what it is told.
func waiting(limit time.Duration) (lock.Request, <-chan *lock.HeldError) {
	req, told := locktest.RequestFor("job"), make(chan *lock.HeldError, 10_000)
	req.Wait.Limit = limit
	req.OnBusy = func(e *lock.HeldError) { told <- e }
	return req, told
}

type answer struct {
	lease lock.Lease
	err   error
	at    time.Time
}

func begin(ctx context.Context, s lock.Store, req lock.Request) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		l, err := s.Acquire(ctx, req)
		done <- answer{l, err, time.Now()}
	}()
	return done
}

// collecting waits until a run has the gate and looks for permits.
func collecting(t *testing.T, told <-chan *lock.HeldError) {
	t.Helper()
	for e := range told {
		if e.Name != "job" || e.Permits == nil {
			t.Errorf("told %+v", e)
		}
		if !e.Permits.Gate {
			return
		}
	}
}

func TestARunCostsFiveCommands(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	store := storeAt(t, p.URL(), 3, 1)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	release(t, l)
	if n := p.Count("eval "); n != 5 {
		t.Errorf("%d commands", n)
	}
}

// One question tells of all permits, and of a run in line alone: the others sleep.
func TestACollectorLooksOftenForASecondAndThenTwiceASecond(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	release := hold(t, storeAt(t, s.URL(), 64, 64))
	p := redistest.NewProxy(t, s)
	req, told := waiting(2100 * time.Millisecond)
	done := begin(t.Context(), storeAt(t, p.URL(), 64, 2), req)
	collecting(t, told)
	if a := <-done; !errors.As(a.err, new(*lock.HeldError)) {
		t.Error(a.err)
	}
	// the gate, 11 looks and 2 or 3, and the release
	if n := p.Count("eval "); n < 9 || n > 16 {
		t.Errorf("%d commands", n)
	}
	release()
}

// hold has a run hold its permits.
func hold(t *testing.T, s lock.Store) (let func()) {
	t.Helper()
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	return func() { t.Helper(); release(t, l) }
}

// The end of the wait covers the gate and the permits together.
func TestTheWaitIsThatForGateAndPermits(t *testing.T) {
	t.Parallel()
	_, store := serverStore(t, 2, 2)
	defer hold(t, store)()
	first, told := waiting(lock.Forever)
	ctx, cancel := context.WithCancel(t.Context())
	collector := begin(ctx, store, first)
	collecting(t, told)
	second, _ := waiting(500 * time.Millisecond)
	began := time.Now()
	waiter := begin(t.Context(), store, second)
	time.AfterFunc(250*time.Millisecond, cancel)
	a := <-waiter
	if took := a.at.Sub(began); took < 450*time.Millisecond || took > 1500*time.Millisecond {
		t.Errorf("waited for %s: %v", took, a.err)
	}
	if a := <-collector; !errors.Is(a.err, context.Canceled) {
		t.Error(a.err)
	}
}

// A signal gives back what was collected, and the gate.
func TestASignalGivesEverythingBackAtOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	defer hold(t, storeAt(t, s.URL(), 3, 1))()
	req, told := waiting(lock.Forever)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := begin(ctx, storeAt(t, s.URL(), 3, 3), req)
	collecting(t, told)
	signal := errors.New("signal")
	sent := time.Now()
	cancel(signal)
	a := <-done
	if took := a.at.Sub(sent); took > 100*time.Millisecond || a.err != signal {
		t.Errorf("%v, after %s", a.err, took)
	}
	if left := leftAt(t, s); left != "redlockrun:{job}/1" {
		t.Errorf("left %q", left)
	}
}

// A run that has lost the gate has nothing any more, and begins anew as another run, at the end of the line.
func TestAGateThatIsLostGivesEverythingBack(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	let := hold(t, storeAt(t, s.URL(), 3, 1))
	p := redistest.NewProxy(t, s)
	req, told := waiting(lock.Forever)
	req.Times, req.Timeout = lock.TimesOf(time.Second), time.Second
	done := begin(t.Context(), storeAt(t, p.URL(), 3, 3), req)
	collecting(t, told)
	p.BlackHole(true)
	next, behind := waiting(lock.Forever)
	second := begin(t.Context(), storeAt(t, s.URL(), 3, 1), next)
	a := <-second // the permits that were collected have lapsed, too
	locktest.Must(t, a.err)
	if e := <-behind; e.Permits == nil || !e.Permits.Gate {
		t.Errorf("told %+v", e)
	}
	p.BlackHole(false)
	release(t, a.lease)
	let()
	a = <-done
	locktest.Must(t, a.err)
	if l := a.lease.(permits.Lease); l.Run() == req.Holder.Run || !slices.Equal(l.Permits(), []int{1, 2, 3}) {
		t.Errorf("run %s has %v", l.Run(), l.Permits())
	}
	release(t, a.lease)
}

// What comes after the end of the gate's lease does not count: another may have collected meanwhile.
func TestAPermitThatComesAfterTheGateIsLostDoesNotCount(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	free := p.Hold("redlockrun:{job}/1:fence") // the steps that take the permit, and then give it up
	req, _ := waiting(lock.Forever)
	req.Times, req.Timeout = lock.TimesOf(time.Second), 4*time.Second
	done := begin(t.Context(), storeAt(t, p.URL(), 2, 1), req)
	if !p.Await("redlockrun:{job}/1:fence", 1) {
		t.Fatal("no permit is asked for")
	}
	time.AfterFunc(1500*time.Millisecond, free)
	writer, told := waiting(lock.Forever)
	a := <-begin(t.Context(), storeAt(t, s.URL(), 2, 0), writer)
	locktest.Must(t, a.err)
	if len(told) == 0 {
		t.Error("the writer did not find the gate busy")
	}
	select {
	case early := <-done:
		t.Fatalf("beside the writer there is %v, %v", early.lease, early.err)
	case <-time.After(2 * time.Second):
	}
	release(t, a.lease)
	a = <-done
	locktest.Must(t, a.err)
	release(t, a.lease)
}

// A writer among readers that come all the time starts soon after those that ran before it.
func TestAWriterStartsAfterTheLongestReaderBeforeIt(t *testing.T) {
	t.Parallel()
	const longest = 400 * time.Millisecond
	s := redistest.Start(t, redistest.Options{})
	draw := locktest.Draw(t)
	ctx, cancel := context.WithCancel(t.Context())
	readers := make(chan struct{}, 8)
	for range cap(readers) {
		store := storeAt(t, s.URL(), 8, 1)
		go func() {
			defer func() { readers <- struct{}{} }()
			for ctx.Err() == nil {
				req, _ := waiting(lock.Forever)
				l, err := store.Acquire(ctx, req)
				if err == nil {
					<-time.After(time.Duration(draw(int(longest))))
					l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
				}
			}
		}()
	}
	writer := storeAt(t, s.URL(), 8, 0)
	for range 5 {
		req, told := waiting(lock.Forever)
		var first time.Time
		req.OnBusy = func(e *lock.HeldError) {
			if told := e; !told.Permits.Gate && first.IsZero() {
				first = time.Now()
			}
		}
		l, err := writer.Acquire(t.Context(), req)
		locktest.Must(t, err)
		if took := time.Since(first); !first.IsZero() && took > longest+time.Second {
			t.Errorf("the writer started %s after it was first in line", took)
		}
		release(t, l)
		_ = told
	}
	cancel()
	for range cap(readers) {
		<-readers
	}
	locktest.Until(t, "all is free", func() bool { return leftAt(t, s) == "" })
}

// The ledger has a run once, with its permit; a run that is alone is in that of the gate.
func TestARunIsRecordedOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	jobs, err := line.OpenInspector(lock.Servers{URLs: []string{s.URL()}, Prefix: lock.DefaultPrefix},
		lock.Inspection{})
	locktest.Must(t, err)
	run := func(take int) string {
		req := locktest.RequestFor("job")
		req.History = 50
		l := locktest.Acquire(t, storeAt(t, s.URL(), 3, take), req)
		locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience),
			lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk}}))
		return l.(permits.Lease).Run()
	}
	several, alone := run(3), run(0)
	for _, lockName := range append(lock.PermitsOf("job", 3), lock.GateOf("job")) {
		var runs []string
		entries, err := jobs.Runs(t.Context(), lockName, false)
		locktest.Must(t, err)
		for _, e := range entries {
			runs = append(runs, e.Run)
		}
		want := map[string]string{lock.PermitOf("job", 1): several, lock.GateOf("job"): alone}[lockName]
		if strings.Join(runs, " ") != want {
			t.Errorf("%q has %v, want %q", lockName, runs, want)
		}
	}
	names, err := jobs.Names(t.Context(), false)
	if locktest.Must(t, err); !slices.Equal(names, []string{lock.PermitOf("job", 3)}) {
		t.Errorf("listed %q", names)
	}
}

// A pause of the gate lets those run on that run, and nobody start.
func TestAPauseOfTheGateKeepsRunsFromStarting(t *testing.T) {
	t.Parallel()
	s, store := serverStore(t, 3, 1)
	defer hold(t, store)()
	operator, err := line.OpenOperator(lock.Servers{URLs: []string{s.URL()}, Prefix: lock.DefaultPrefix},
		lock.Inspection{})
	locktest.Must(t, err)
	pause := locktest.ChangeFor(lock.ActPause)
	pause.For = lock.Forever
	_, err = operator.Change(t.Context(), lock.GateOf("job"), pause)
	locktest.Must(t, err)
	began := time.Now()
	_, err = store.Acquire(t.Context(), locktest.RequestFor("job"))
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Pause == nil || held.Name != "job" || time.Since(began) > time.Second {
		t.Errorf("%v, after %s", err, time.Since(began))
	}
	req := locktest.RequestFor("job")
	req.IgnorePause = true
	release(t, locktest.Acquire(t, store, req))
	waits, told := waiting(lock.Forever)
	done := begin(t.Context(), store, waits)
	<-told
	_, err = operator.Change(t.Context(), lock.GateOf("job"), locktest.ChangeFor(lock.ActResume))
	locktest.Must(t, err)
	a := <-done
	locktest.Must(t, a.err)
	release(t, a.lease)
}

// The mark of an operator on any permit stops the run; on the gate it stops the one that collects.
func TestAStopOfAnyPartStopsTheRun(t *testing.T) {
	t.Parallel()
	s, store := serverStore(t, 2, 2)
	operator, err := line.OpenOperator(lock.Servers{URLs: []string{s.URL()}, Prefix: lock.DefaultPrefix},
		lock.Inspection{})
	locktest.Must(t, err)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	_, err = operator.Change(t.Context(), lock.PermitOf("job", 2), locktest.ChangeFor(lock.ActStop))
	locktest.Must(t, err)
	req, told := waiting(lock.Forever)
	req.Times = lock.TimesOf(time.Second)
	done := begin(t.Context(), store, req)
	collecting(t, told)
	_, err = operator.Change(t.Context(), lock.GateOf("job"), locktest.ChangeFor(lock.ActStop))
	locktest.Must(t, err)
	if a := <-done; !errors.As(a.err, new(*lock.StoppedError)) {
		t.Error(a.err)
	}
	if locktest.Renew(t, l); !l.StopAsked() {
		t.Error("the run is not told to stop")
	}
	release(t, l)
}

package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/capture"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

// A fakeLease answers as a test wants.
type fakeLease struct {
	until    time.Time
	renew    func(ctx context.Context) error
	renewed  int
	stop     bool
	released []lock.ReleaseRequest
	release  func(ctx context.Context) error // nil: it works
}

func (l *fakeLease) Until() time.Time        { return l.until }
func (l *fakeLease) Held() time.Duration     { return time.Second }
func (l *fakeLease) StopAsked() bool         { return l.stop }
func (l *fakeLease) Instants() lock.Instants { return lock.Instants{} }
func (l *fakeLease) Fence() int64            { return 1 }

func (l *fakeLease) Renew(ctx context.Context) (time.Time, error) {
	l.renewed++
	if err := l.renew(ctx); err != nil {
		return l.until, err
	}
	l.until = boottime.Now().Add(time.Minute)
	return l.until, nil
}

func (l *fakeLease) Release(ctx context.Context, end lock.ReleaseRequest) error {
	l.released = append(l.released, end)
	if l.release == nil {
		return nil
	}
	return l.release(ctx)
}

// A fakeStore gives out leases that were asked for age ago.
type fakeStore struct {
	lock.Store
	age   time.Duration
	renew func(context.Context) error
	given []*fakeLease
}

func (s *fakeStore) Acquire(_ context.Context, req lock.Request) (lock.Lease, error) {
	l := &fakeLease{until: req.Times.End(boottime.Now().Add(-s.age)), renew: s.renew}
	s.given = append(s.given, l)
	return l, nil
}

// aboutJob returns the context of the tests' messages.
func aboutJob() explain.About {
	return explain.About{Config: config.Config{
		Key: "job", Conflict: explain.StatusBusy, MaxRuntime: 90 * time.Second,
		Address: config.Address{From: "--redis"},
	}, Place: "db:6379"}
}

func fakeSession(signals chan os.Signal) *session {
	c := aboutJob()
	c.Config.Times, c.Config.Timeout, c.Config.OnLost = lock.TimesOf(time.Minute), time.Second, config.StopCommand
	return New(&c, []string{"true"}, console.Console{}, signals)
}

func TestAFreshLeaseIsNotRenewedBeforeTheStart(t *testing.T) {
	store := &fakeStore{}
	if _, _, err := fakeSession(nil).acquire(store); err != nil || store.given[0].renewed != 0 {
		t.Errorf("%d renewals, %v", store.given[0].renewed, err)
	}
}

func TestALeaseThatTookLongerThanOneTryIsRenewedBeforeTheStart(t *testing.T) {
	store := &fakeStore{age: 3 * time.Second, renew: func(context.Context) error { return nil }}
	lease, _, err := fakeSession(nil).acquire(store)
	if err != nil || store.given[0].renewed != 1 || lease != store.given[0] {
		t.Errorf("%d renewals, %v", store.given[0].renewed, err)
	}
}

func TestALockThatVanishedBeforeTheStartIsTakenAgain(t *testing.T) {
	store := &fakeStore{age: 3 * time.Second}
	store.renew = func(context.Context) error {
		if len(store.given) < 2 {
			return lock.ErrTaken
		}
		return nil
	}
	_, run, err := fakeSession(nil).acquire(store)
	if err != nil || len(store.given) != 2 || len(run) != 26 {
		t.Errorf("asked %d times, %v", len(store.given), err)
	}
	store = &fakeStore{age: 3 * time.Second, renew: func(context.Context) error { return lock.ErrLost }}
	s := fakeSession(nil)
	_, _, err = s.acquire(store)
	if got := explain.Of(err, *s.about).Status; got != explain.StatusUnavailable || len(store.given) != freshTries {
		t.Errorf("asked %d times, status %d, %v", len(store.given), got, err)
	}
}

func TestALeaseThatCannotBeRenewedBeforeTheStartIsAnOutage(t *testing.T) {
	store := &fakeStore{age: 48 * time.Second, renew: func(context.Context) error { return errors.New("odd") }}
	s := fakeSession(nil)
	_, _, err := s.acquire(store)
	if got := explain.Of(err, *s.about).Status; got != explain.StatusUnavailable || len(store.given[0].released) != 1 {
		t.Errorf("status %d, released %v, %v", got, store.given[0].released, err)
	}
}

func TestARunStoppedBeforeTheStartIsRecordedAsStopped(t *testing.T) {
	store := &fakeStore{age: 3 * time.Second}
	store.renew = func(context.Context) error {
		store.given[0].stop = true
		return nil
	}
	s := fakeSession(nil)
	_, _, err := s.acquire(store)
	if got := explain.Of(err, *s.about).Status; got != 143 || len(store.given) != 1 {
		t.Errorf("status %d, asked %d times, %v", got, len(store.given), err)
	}
	stopped := lock.RunResult{End: lock.EndStopped, Status: 143}
	if ends := store.given[0].released; len(ends) != 1 || ends[0].Result != stopped {
		t.Errorf("released %+v", ends)
	}
}

func TestASignalEndsTheRenewalBeforeTheStart(t *testing.T) {
	signals := make(chan os.Signal, 1)
	store := &fakeStore{age: 3 * time.Second, renew: func(ctx context.Context) error {
		signals <- syscall.SIGTERM
		<-ctx.Done()
		return ctx.Err()
	}}
	s := fakeSession(signals)
	_, _, err := s.acquire(store)
	if got := explain.Of(err, *s.about).Status; got != 143 || len(store.given[0].released) != 1 {
		t.Errorf("status %d, released %v, %v", got, store.given[0].released, err)
	}
}

func TestWithoutAGuardNothingRuns(t *testing.T) {
	store := &fakeStore{}
	s := fakeSession(nil)
	s.guards.startHolding([]*os.File{closedFile(t)})
	defer s.guards.close()
	_, _, err := s.acquire(store)
	if got := explain.Of(err, *s.about).Status; got != explain.StatusFailed || len(store.given[0].released) != 1 {
		t.Errorf("status %d, released %v, %v", got, store.given[0].released, err)
	}
}

// closedFile is a file that no guard can hold open.
func closedFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	return f
}

// A second signal does not wait for what the first one should end.
func TestASecondSignalDoesNotWait(t *testing.T) {
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGINT
	signals <- syscall.SIGINT
	never := make(chan struct{})
	defer close(never)
	_, err := interrupt.Run(signals, func(context.Context) (int, error) { <-never; return 0, nil })
	var signalled *runner.SignalError
	if !errors.As(err, &signalled) || signalled.Signal != syscall.SIGINT {
		t.Errorf("%v", err)
	}
}

// What the watchdog says stops the command, for a reason that has a status.
func TestTheWatchdogStopsTheCommand(t *testing.T) {
	s, kill := fakeSession(nil), boottime.Now()
	for _, c := range []struct {
		err    error
		kill   time.Time
		status int
		says   string
	}{
		{&watchdog.LostError{Err: lock.ErrTaken, Kill: kill}, kill, explain.StatusLost, "another run took lock"},
		{errors.New("panic: oh"), time.Time{}, explain.StatusFailed, "keep lock \"job\": panic: oh"},
	} {
		stop := s.stopFor(c.err)
		if got := explain.Of(stop, *s.about); got.Status != c.status || !strings.Contains(got.Message, c.says) ||
			stop.KillBy != c.kill {
			t.Errorf("%v: %+v, SIGKILL by %v", c.err, got, stop.KillBy)
		}
	}
}

func TestAnOutageCausesOneWarningAndASingleFailureNone(t *testing.T) {
	for failures, warnings := range []int{0, 0, 1, 1, 1} {
		var out capture.Output
		s := fakeSession(nil)
		s.Console = console.New(console.Warning, false, out.Add)
		says := s.watchdog().Observer
		for n := range failures {
			says.Failed(n+1, errors.New("no answer"), 10*time.Second)
		}
		says.Recovered(failures)
		s.Console.Flush(time.Minute)
		if got := strings.Count(out.String(), "\n"); got != warnings {
			t.Errorf("%d failures: %d warnings: %s", failures, got, out.String())
		}
	}
}

func TestAPanicDuringAnInterruptibleStepIsAnError(t *testing.T) {
	_, err := interrupt.Run(nil, func(context.Context) (int, error) { panic("out of order") })
	if o := explain.Of(err, explain.About{}); o.Status != explain.StatusFailed ||
		o.Message != "wait for the lock: panic: out of order" {
		t.Errorf("got %+v", o)
	}
}

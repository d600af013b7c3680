package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/runner"

	"golang.org/x/sys/unix"
)

func contextWithCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

var errReason = errors.New("the reason")

// A stopped run is the result of a command that was stopped.
type stopped struct {
	runner.Status
	after time.Duration // from the stop to the end
}

// stop runs a shell text, which makes the file $0 when it is ready, and stops it then.
func stop(t *testing.T, grace time.Duration, why func() error, text string) stopped {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	ctx, cancel := contextWithCause(t)
	at := make(chan time.Time, 1)
	go func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := os.Stat(ready); err == nil || ctx.Err() != nil {
				at <- time.Now()
				cancel(why())
				return
			}
		}
	}()
	c := shell(text, ready)
	c.Grace = grace
	s, err := c.Run(ctx, nil)
	cancel(nil)
	if err != nil {
		t.Fatal(err)
	}
	return stopped{s, time.Since(<-at)}
}

func plainReason() error { return errReason }

func TestAStopSendsSIGTERMFirst(t *testing.T) {
	s := stop(t, limit, plainReason, `trap 'exit 7' TERM; : >"$0"; while :; do sleep 0.01; done`)
	if s.Code != 7 || !errors.Is(s.Stopped, errReason) || s.after >= limit {
		t.Errorf("got %+v", s)
	}
}

func TestACommandThatIgnoresSIGTERMIsKilledAfterTheGrace(t *testing.T) {
	const grace = 300 * time.Millisecond
	s := stop(t, grace, plainReason, `trap '' TERM; : >"$0"; while :; do sleep 0.01; done`)
	if s.Signal != syscall.SIGKILL || s.Code != 137 || s.after < grace || s.Left != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestKillByCutsTheGrace(t *testing.T) {
	why := func() error {
		return &runner.StopError{Reason: errReason, KillBy: boottime.Now().Add(200 * time.Millisecond)}
	}
	s := stop(t, time.Hour, why, `trap '' TERM; : >"$0"; while :; do sleep 0.01; done`)
	if s.Signal != syscall.SIGKILL || s.after < 200*time.Millisecond || s.after > limit {
		t.Errorf("got %+v", s)
	}
}

func TestAPastKillTimeKillsAtOnce(t *testing.T) {
	why := func() error { return &runner.StopError{Reason: errReason, KillBy: boottime.Now()} }
	s := stop(t, time.Hour, why, `trap 'exit 7' TERM; : >"$0"; while :; do sleep 0.01; done`)
	if s.Signal != syscall.SIGKILL {
		t.Errorf("got %+v", s)
	}
}

func TestASuspendedCommandGetsTheSIGTERM(t *testing.T) {
	s := stop(t, limit, plainReason, `trap 'exit 7' TERM; : >"$0"; kill -STOP $$; exit 8`)
	if s.Code != 7 && s.Signal != syscall.SIGTERM {
		t.Errorf("got %+v", s)
	}
}

// A stop that comes after the SIGTERM, here out of its trap, may not use up the grace.
func TestACommandThatSuspendsItselfWhileItIsEndedContinues(t *testing.T) {
	s := stop(t, 5*time.Second, plainReason, `trap 'kill -STOP $$; exit 7' TERM; : >"$0"; while :; do sleep 0.01; done`)
	if s.Code != 7 {
		t.Errorf("got %+v", s)
	}
}

// The leader obeys at once, its child still cleans up: it has the rest of the grace.
func TestTheGroupHasTheGraceToo(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	t.Setenv("DONE", done)
	const child = `trap 'sleep 0.3; : >"$DONE"; exit' TERM; : >"$0"; while :; do sleep 0.01; done`
	s := stop(t, limit, plainReason, `trap 'exit 3' TERM; (`+child+`) & wait`)
	if _, err := os.Stat(done); err != nil || s.Code != 3 || s.Left != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestNoProcessOfTheGroupOutlivesTheGrace(t *testing.T) {
	const child = `trap '' TERM; : >"$0"; while :; do sleep 0.01; done`
	s := stop(t, 200*time.Millisecond, plainReason, `trap 'exit 3' TERM; (`+child+`) & wait`)
	if s.Code != 3 || s.Left != 0 || s.after < 200*time.Millisecond {
		t.Errorf("got %+v", s)
	}
}

// What comes while the rest of the group has its grace is theirs: the leader is gone.
func TestASignalReachesTheRestOfTheGroup(t *testing.T) {
	c, signals, done := restOfAGroup(t)
	signals <- unix.SIGHUP
	s := <-done
	if s.Code != 3 || s.Left != 0 || !errors.Is(s.Stopped, errReason) {
		t.Errorf("got %+v", s)
	}
	if said, err := os.ReadFile(c.Argv[3] + ".hup"); err != nil {
		t.Errorf("it was killed: %s, %v", said, err)
	}
}

func TestALaterStopCutsTheGraceOfTheRestOfTheGroup(t *testing.T) {
	c, _, done := restOfAGroup(t)
	began := time.Now()
	c.Stop(&runner.StopError{Reason: errors.New("second"), KillBy: boottime.Now()})
	s := <-done
	if s.Code != 3 || s.Left != 0 || !errors.Is(s.Stopped, errReason) || time.Since(began) > restGrace-5*time.Second {
		t.Errorf("got %+v after %s", s, time.Since(began))
	}
}

// restGrace is long, and ends before a test does that waits for it.
const restGrace = 45 * time.Second

// restOfAGroup is a command that is being stopped: its leader has ended with 3, a child of it
// obeys no SIGTERM, and ends by SIGHUP, or by itself after minutes.
func restOfAGroup(t *testing.T) (c *runner.Command, signals chan os.Signal, done chan runner.Status) {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	const child = `trap '' TERM; trap ': >"$0.hup"; exit' HUP; : >"$0.child"
		n=0; while [ $((n += 1)) -lt 9000 ]; do sleep 0.02; done`
	c = shell(`trap 'exit 3' TERM; (`+child+`) & echo $$ >"$0"; wait`, ready)
	c.Grace = restGrace
	signals, done = make(chan os.Signal, 1), make(chan runner.Status, 1)
	ctx, cancel := contextWithCause(t)
	go func() {
		s, err := c.Run(ctx, signals)
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	leader := pidIn(t, ready)
	if !appears(t, ready+".child") {
		t.Fatal("no child")
	}
	cancel(errReason)
	eventually(t, "the leader has ended", func() bool { return exited(leader) })
	return c, signals, done
}

// A signal that all have got ends the leader first: of the others nothing is left a moment later.
func TestWhoIsAboutToDieIsNotLeft(t *testing.T) {
	dir := t.TempDir()
	ready, done := filepath.Join(dir, "ready"), filepath.Join(dir, "done")
	signals := make(chan os.Signal, 1)
	go func() {
		if appears(t, ready) {
			signals <- unix.SIGTERM
		}
	}()
	s, err := shell(`"$@" & wait`, "sh", self(), "undumpable", ready, done, "10ms").Run(t.Context(), signals)
	if err != nil || s.Signal != unix.SIGTERM || s.Left != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestAGroupThatForksFastIsKilled(t *testing.T) {
	const fork = `while :; do (sleep 0.001 & sleep 0.002 & ) ; done`
	s := stop(t, 10*time.Millisecond, plainReason, `trap '' TERM; : >"$0"; f() { `+fork+`; }; f & f & f & f`)
	if s.Signal != syscall.SIGKILL || s.Left != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestStopHastensAStop(t *testing.T) {
	trapped := filepath.Join(t.TempDir(), "trapped")
	c := shell(`trap ': >"$0.term"' TERM; : >"$0"; while :; do sleep 0.01; done`, trapped)
	c.Grace = time.Hour
	go func() {
		if appears(t, trapped) {
			c.Stop(&runner.StopError{Reason: errReason})
		}
		if appears(t, trapped+".term") {
			c.Stop(&runner.StopError{Reason: errors.New("second"), KillBy: boottime.Now().Add(10 * time.Millisecond)})
		}
	}()
	s, err := c.Run(t.Context(), nil)
	if err != nil || s.Signal != syscall.SIGKILL || !errors.Is(s.Stopped, errReason) {
		t.Errorf("got %+v, %v", s, err)
	}
}

// appears returns true as soon as the file is there, false when the test ends.
func appears(t *testing.T, path string) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		if t.Context().Err() != nil {
			return false
		}
	}
	return false
}

func TestACommandThatIsStoppedBeforeItsStartIsNotRun(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	c := shell(`: >"$0"`, ran)
	c.Stop(&runner.StopError{Reason: errReason})
	_, err := c.Run(t.Context(), nil)
	var notStarted *runner.NotStartedError
	if !errors.As(err, &notStarted) || !errors.Is(err, errReason) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}

func TestACommandThatHasEndedKeepsItsStatus(t *testing.T) {
	for range 50 {
		ctx, cancel := contextWithCause(t)
		c := shell("exit 9")
		c.Grace = time.Hour
		go cancel(errReason)
		s, err := c.Run(ctx, nil)
		switch {
		case err == errReason: // not started
		case err != nil:
			t.Fatal(err)
		case s.Stopped == nil && s.Code != 9:
			t.Fatalf("got %+v", s)
		}
	}
}

package relay_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// limit is how long a test waits for what must arrive.
const limit = time.Minute

// Signals ignored on entry stay ignored, and the caller of these tests may ignore some: make
// ignores 32, a shell those of jobs in the background.
func TestMain(m *testing.M) {
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if relay.Ignored(sig) {
			relay.SetAction(sig, &relay.Action{}, nil)
		}
	}
	os.Exit(m.Run())
}

// keep leaves sigs to the next test as they are now.
func keep(t *testing.T, sigs ...syscall.Signal) {
	for _, sig := range sigs {
		var before relay.Action
		relay.SetAction(sig, nil, &before)
		t.Cleanup(func() { relay.SetAction(sig, &before, nil) })
	}
}

func deliver(t *testing.T, sigs ...syscall.Signal) <-chan os.Signal {
	keep(t, sigs...)
	relay.Deliver(sigs...)
	return relay.Signals()
}

// raise sends sig to the calling thread: it has been handled when raise returns.
func raise(t *testing.T, sig syscall.Signal) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(unix.Getpid(), unix.Gettid(), sig); err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, signals <-chan os.Signal) os.Signal {
	t.Helper()
	select {
	case sig := <-signals:
		return sig
	case <-time.After(limit):
		t.Fatalf("no signal came within %v", limit)
		return nil
	}
}

func sendable() (sigs []syscall.Signal) {
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		switch sig {
		case unix.SIGKILL, unix.SIGSTOP, unix.SIGCHLD, unix.SIGURG, unix.SIGPROF, 33:
		default:
			sigs = append(sigs, sig)
		}
	}
	return sigs
}

func TestEverySignalArrives(t *testing.T) {
	sigs := sendable()
	signals := deliver(t, sigs...)
	for _, sig := range sigs {
		if err := unix.Kill(unix.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		if got := next(t, signals); got != os.Signal(sig) {
			t.Errorf("sent signal %d, got %d", sig, got)
		}
	}
}

// The kernel queues real-time signals, and none of them may get lost on the way, be
// the reader ever so late: here it is later than the channel has room.
func TestRealTimeSignalsInABurstAllArrive(t *testing.T) {
	burst := cap(relay.Signals()) + 100
	for _, sig := range []syscall.Signal{32, 34, 40, 64} {
		signals := deliver(t, sig)
		for range burst {
			if err := unix.Kill(unix.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
		}
		for range burst {
			if got := next(t, signals); got != os.Signal(sig) {
				t.Fatalf("sent signal %d, got %d", sig, got)
			}
		}
	}
}

// To the runtime a signal from sigqueue(3), or from a timer, does not look like one that a process
// sent.
func TestASignalWithAValueArrives(t *testing.T) {
	const queued = -1 // SI_QUEUE
	for _, sig := range []syscall.Signal{unix.SIGSEGV, unix.SIGTERM, 32, 34, 64} {
		signals := deliver(t, sig)
		info := [32]int32{int32(sig), 0, queued}
		if _, _, e := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(unix.Getpid()), uintptr(sig),
			uintptr(unsafe.Pointer(&info))); e != 0 {
			t.Fatal(e)
		}
		if got := next(t, signals); got != os.Signal(sig) {
			t.Errorf("sent signal %d, got %d", sig, got)
		}
	}
}

func TestAFaultOfOurOwnIsStillTheRuntimes(t *testing.T) {
	deliver(t, unix.SIGSEGV, unix.SIGBUS)
	for range 2 { // the second time the handlers are ours before they are installed
		relay.Deliver(unix.SIGSEGV, unix.SIGBUS)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("reading through a nil pointer did not panic")
				}
			}()
			var nowhere *int
			t.Error(*nowhere)
		}()
	}
}

func TestWhatIsAbsorbedHasNoEffect(t *testing.T) {
	signals := deliver(t, unix.SIGUSR1)
	keep(t, unix.SIGXFSZ, 64)
	relay.Absorb(unix.SIGXFSZ, 64)
	raise(t, unix.SIGXFSZ)
	raise(t, 64)
	raise(t, unix.SIGUSR1)
	if got := next(t, signals); got != unix.SIGUSR1 {
		t.Errorf("signal %v arrived", got)
	}
}

func TestWhatIsIgnoredStaysIgnored(t *testing.T) {
	sigs := []syscall.Signal{unix.SIGHUP, unix.SIGPIPE, 34}
	keep(t, sigs...)
	for _, sig := range sigs {
		ignore := relay.Ignore()
		relay.SetAction(sig, &ignore, nil)
		relay.Deliver(sig)
		relay.Absorb(sig)
		relay.UseDefault(sig)()
		if !relay.Ignored(sig) {
			t.Errorf("signal %d is not ignored any more", sig)
		}
	}
}

func TestTheDefaultActionLastsUntilItIsTakenBack(t *testing.T) {
	signals := deliver(t, unix.SIGWINCH, unix.SIGUSR1)
	restore := relay.UseDefault(unix.SIGWINCH)
	raise(t, unix.SIGWINCH) // has no effect by default
	restore()
	raise(t, unix.SIGUSR1)
	raise(t, unix.SIGWINCH)
	if first, second := next(t, signals), next(t, signals); first != unix.SIGUSR1 || second != unix.SIGWINCH {
		t.Errorf("got %v, %v", first, second)
	}
}

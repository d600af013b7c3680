package runner

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// queueSize is the room for signals that have come and are not yet forwarded.
const queueSize = 512

// Signals by who gets them.
var (
	// A fault of this process itself has the same number as one that is sent,
	// which the runtime tells apart; so it has to be asked for these.
	faults = []syscall.Signal{unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSYS}

	// A failing write is to fail, not to end the program. They are not forwarded.
	writes = []syscall.Signal{unix.SIGPIPE, unix.SIGXFSZ}

	// Before the command runs the kernel does with these what is right.
	jobControl = []syscall.Signal{unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT, unix.SIGWINCH}
)

// What Subscribe has returned, and what it has changed. There is one of each:
// signals belong to the process.
var (
	subscribed chan os.Signal
	orphans    adoption
)

// Subscribe starts the delivery of every signal that is to be forwarded. It is
// the first thing a program does, and done once; the delivery never ends. The
// stop signals, CONT and WINCH are delivered from the start of Run on. Until then
// the kernel reaps what PID 1 adopts.
//
// What was ignored on entry (nohup(1)) is not subscribed to and so stays
// ignored, here and in the command; of that the Go runtime lets HUP, INT and the
// terminal's stop signals be seen. SIGCHLD and SIGURG are the kernel's and the
// runtime's, SIGPROF and signal 33 the runtime keeps for itself.
func Subscribe() <-chan os.Signal {
	subscribed = make(chan os.Signal, queueSize)
	deliver(subscribed, ordinary())
	deliverFaults(subscribed, faults)
	absorb(writes)
	orphans = disown()
	return subscribed
}

// subscribeJobControl completes what Subscribe has begun. It is for the
// command, which stops, continues and is drawn anew as the terminal says.
func subscribeJobControl() {
	if subscribed != nil {
		deliver(subscribed, jobControl)
	}
}

// ordinary are the signals that just end a program, but for faults and writes.
func ordinary() []syscall.Signal {
	sigs := []syscall.Signal{
		unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM,
		unix.SIGSTKFLT, unix.SIGVTALRM, unix.SIGXCPU, unix.SIGIO, unix.SIGPWR,
	}
	const firstRealTime, lastRealTime, runtimesOwn = 32, 64, 33
	for sig := syscall.Signal(firstRealTime); sig <= lastRealTime; sig++ {
		if sig != runtimesOwn {
			sigs = append(sigs, sig)
		}
	}
	return sigs
}

func ignoredOnEntry(sig syscall.Signal) bool {
	var now kernelAction
	swapAction(sig, nil, &now)
	return now.handler == ignored
}

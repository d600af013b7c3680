package runner

import (
	"os"
	"slices"
	"syscall"

	"redlockrun/internal/relay"

	"golang.org/x/sys/unix"
)

// Signals by what becomes of them; all others are forwarded, from the start on.
var (
	// Before the command runs the kernel does with these what is right.
	jobControl = []syscall.Signal{unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT, unix.SIGWINCH}

	// A failing write is to fail, not to end the program.
	writes = []syscall.Signal{unix.SIGPIPE, unix.SIGXFSZ}

	// The kernel's, and those that the Go runtime keeps for itself.
	others = []syscall.Signal{unix.SIGKILL, unix.SIGSTOP, unix.SIGCHLD, unix.SIGURG, unix.SIGPROF, 33}
)

// What Subscribe has returned, and what it has changed. There is one of each:
// signals belong to the process.
var (
	subscribed <-chan os.Signal
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
	subscribed = relay.Open()
	relay.Deliver(ordinary()...)
	relay.Absorb(writes...)
	orphans = disown()
	return subscribed
}

// subscribeJobControl completes what Subscribe has begun. It is for the
// command, which stops, continues and is drawn anew as the terminal says.
func subscribeJobControl() {
	if subscribed != nil {
		relay.Deliver(jobControl...)
	}
}

// ordinary are the signals that just end a program, but for those of its own writes.
func ordinary() (sigs []syscall.Signal) {
	const last = 64
	special := slices.Concat(jobControl, writes, others)
	for sig := syscall.Signal(1); sig <= last; sig++ {
		if !slices.Contains(special, sig) {
			sigs = append(sigs, sig)
		}
	}
	return sigs
}

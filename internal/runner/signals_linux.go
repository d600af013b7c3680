package runner

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// queueSize is far more than can come before the reader is scheduled: signals
// for which there is no room are lost.
const queueSize = 512

const lastSignal = 64 // SIGRTMAX

// Subscribe starts the delivery of every signal that is to be forwarded. It is
// the first thing a program does, and done once; the delivery never ends.
//
// What was ignored on entry (nohup(1)) is not subscribed to and so stays
// ignored, here and in the command; of that the Go runtime lets HUP, INT and the
// terminal's stop signals be seen. SIGPIPE and SIGXFSZ are subscribed to so that a
// failing write does not end the program; they are not forwarded.
// SIGCHLD and SIGURG are the kernel's and the runtime's. SIGPROF and signal 33
// the runtime keeps for itself.
func Subscribe() <-chan os.Signal {
	var wanted []os.Signal
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		switch sig {
		case unix.SIGKILL, unix.SIGSTOP, unix.SIGCHLD, unix.SIGURG, unix.SIGPROF, 33:
			continue
		}
		if !ignoredOnEntry(sig) {
			wanted = append(wanted, sig)
		}
	}
	signals := make(chan os.Signal, queueSize)
	signal.Notify(signals, wanted...)
	adopt(32, 34)
	return signals
}

func ignoredOnEntry(sig syscall.Signal) bool {
	var now kernelAction
	swapAction(sig, nil, &now)
	return now.handler == ignored
}

// adopt gives signals that the runtime leaves to the C library, of which there
// is none here, the handler that it has for the other real-time signals.
func adopt(sigs ...syscall.Signal) {
	var handler kernelAction
	swapAction(lastSignal, nil, &handler)
	for _, sig := range sigs {
		if !ignoredOnEntry(sig) {
			swapAction(sig, &handler, nil)
		}
	}
}

package relay

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// queueSize is the room for signals that have come and are not yet taken from the
// channel. When it is full they stay in the pipe, which has room for 64 Ki.
const queueSize = 512

// What the handlers use: the end of a pipe that they write to, and the runtime's
// handler of faults.
var (
	pipe           uintptr
	runtimeHandler uintptr //lint:ignore U1000 read by a handler
)

// handlers are where the kernel finds the handler that relays a signal, the one
// that leaves the faults of this process to the runtime, and the one that does nothing.
func handlers() (relay, relayFault, disregard uintptr)

// Signals is the channel that gets the signals, the same one each time. Without a
// descriptor to be had it stays empty, and Deliver changes nothing.
var Signals = sync.OnceValue(func() <-chan os.Signal {
	signals := make(chan os.Signal, queueSize)
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err == nil {
		pipe = uintptr(ends[1])
		go read(os.NewFile(uintptr(ends[0]), "signals"), signals)
	}
	return signals
})

// read lives as long as the process. While signals is full it waits and the pipe keeps
// what comes: the handler never blocks.
func read(pipe *os.File, signals chan<- os.Signal) {
	numbers := make([]byte, queueSize)
	for {
		n, err := pipe.Read(numbers)
		if err != nil {
			return
		}
		for _, number := range numbers[:n] {
			signals <- syscall.Signal(number)
		}
	}
}

// Deliver makes each of sigs arrive in the channel, but for those that are ignored. A
// fault of this process, which has the same number as a signal that is sent, stays the
// runtime's.
func Deliver(sigs ...syscall.Signal) {
	Signals()
	if pipe == 0 {
		return
	}
	relay, relayFault, _ := handlers()
	runtimeHandler = runtimesAction().handler // it has the same for every signal
	for _, sig := range sigs {
		switch sig {
		case unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSYS:
			handle(sig, relayFault)
		default:
			handle(sig, relay)
		}
	}
}

// Absorb makes each of sigs have no effect, but for those that are ignored: they stay so.
func Absorb(sigs ...syscall.Signal) {
	_, _, disregard := handlers()
	for _, sig := range sigs {
		handle(sig, disregard)
	}
}

func handle(sig syscall.Signal, handler uintptr) {
	if Ignored(sig) {
		return
	}
	action := runtimesAction()
	action.handler = handler
	SetAction(sig, &action, nil)
}

// runtimesAction is how the runtime handles a signal that it has no use for:
// on the signal stack, restarting system calls, every other signal blocked.
var runtimesAction = sync.OnceValue(func() Action {
	const realTime = 63
	return actionOf(realTime)
})

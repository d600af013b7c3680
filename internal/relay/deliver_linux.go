package relay

import (
	"os"
	"sync"
	"syscall"

	"redlockrun/internal/outset"

	"golang.org/x/sys/unix"
)

// queueSize is the room for signals that have come and are not yet taken from the
// channel. When it is full they stay in the pipe, which has room for 64 Ki.
const queueSize = 512

// Signals is the channel that gets the signals, the same one each time. Without a
// descriptor to be had it stays empty, and Deliver changes nothing.
var Signals = sync.OnceValue(func() <-chan os.Signal {
	signals := make(chan os.Signal, queueSize)
	if from, ok := source(); ok {
		go read(os.NewFile(uintptr(from), "signals"), signals)
	}
	return signals
})

// relayed reports that there is a pipe.
var relayed bool

// source is the pipe through which signals come: the one in which they have been waiting
// since package outset made it, if this program had it do that.
func source() (from int, ok bool) {
	if from, _, ok = outset.Pipe(); !ok {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			return 0, false
		}
		outset.RelayTo(ends[1])
		from = ends[0]
	}
	relayed = true
	return from, true
}

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
	if !relayed {
		return
	}
	for _, sig := range sigs {
		outset.Relay(int(sig))
	}
}

// Absorb makes each of sigs have no effect, but for those that are ignored: they stay so.
func Absorb(sigs ...syscall.Signal) {
	for _, sig := range sigs {
		outset.Absorb(int(sig))
	}
}

package relay

import (
	"os"
	"sync"
	"syscall"

	"redlockrun/internal/outset"

	"golang.org/x/sys/unix"
)

// queueSize is the room for signals that have arrived and are not yet taken from the channel. When
// it is full they stay in the pipe, which has room for 64 Ki.
const queueSize = 512

// Signals returns the channel that gets the signals, the same one each time. If no descriptor is
// available it stays empty, and Deliver changes nothing.
var Signals = sync.OnceValue(func() <-chan os.Signal {
	signals := make(chan os.Signal, queueSize)
	if from, ok := source(); ok {
		go read(os.NewFile(uintptr(from), "signals"), signals)
	}
	return signals
})

// relayed reports whether there is a pipe.
var relayed bool

// source returns the pipe of the signals: the one where they have waited since package outset made
// it, if this program uses that.
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

// read lives as long as the process. While signals is full it waits and the signals stay in the
// pipe: the handler never blocks.
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

// Deliver makes each of sigs arrive in the channel, unless it is ignored. The runtime still
// handles a fault of this process, which has the same number as a signal that another process
// sends.
func Deliver(sigs ...syscall.Signal) {
	Signals()
	if !relayed {
		return
	}
	for _, sig := range sigs {
		outset.Relay(int(sig))
	}
}

// Absorb makes each of sigs have no effect. Ignored signals stay ignored.
func Absorb(sigs ...syscall.Signal) {
	for _, sig := range sigs {
		outset.Absorb(int(sig))
	}
}

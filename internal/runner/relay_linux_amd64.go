package runner

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// What the handlers use: the end of a pipe that they write to, and the runtime's
// handler of faults.
var (
	relayPipe      uintptr
	runtimeHandler uintptr //lint:ignore U1000 read by relayFault
)

// Where the kernel finds the handlers.
func relayAddress() uintptr
func relayFaultAddress() uintptr
func disregardAddress() uintptr

var openRelay sync.Once

// deliver makes each of sigs arrive in signals, but for those that are ignored.
//
// signal.Notify would do, but hands each signal to a thread of the runtime and
// waits for it: measured, 17 us each, 0.8 ms for all, which is more than the guard costs.
// It also drops a real-time signal that comes while the one before it is
// still pending; here the kernel's queue is kept.
func deliver(signals chan<- os.Signal, sigs []syscall.Signal) {
	openRelay.Do(func() { startRelay(signals) })
	if relayPipe == 0 { // no descriptor was to be had: the slow way needs none
		signal.Notify(signals, asSignals(sigs)...)
		return
	}
	handle(sigs, relayAddress())
}

// deliverFaults does the same for signals that also come of a fault of this
// process, which the runtime goes on to handle.
func deliverFaults(signals chan<- os.Signal, sigs []syscall.Signal) {
	openRelay.Do(func() { startRelay(signals) })
	if relayPipe == 0 {
		signal.Notify(signals, asSignals(sigs)...)
		return
	}
	var now kernelAction
	swapAction(sigs[0], nil, &now)
	runtimeHandler = now.handler
	handle(sigs, relayFaultAddress())
}

// absorb makes each of sigs have no effect.
func absorb(sigs []syscall.Signal) { handle(sigs, disregardAddress()) }

func handle(sigs []syscall.Signal, handler uintptr) {
	action := runtimeAction()
	action.handler = handler
	for _, sig := range sigs {
		if !ignoredOnEntry(sig) {
			swapAction(sig, &action, nil)
		}
	}
}

// runtimeAction is how the runtime handles a signal that it has no use for:
// on the signal stack, restarting system calls, every other signal blocked.
func runtimeAction() kernelAction {
	const realTime = 63
	var action kernelAction
	swapAction(realTime, nil, &action)
	return action
}

// startRelay opens the pipe and reads it for as long as the process lives. The
// reader waits while signals is full; then the pipe keeps what comes, and the handler
// never blocks.
func startRelay(signals chan<- os.Signal) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return
	}
	relayPipe = uintptr(ends[1])
	go relayFrom(os.NewFile(uintptr(ends[0]), "signals"), signals)
}

func relayFrom(pipe *os.File, signals chan<- os.Signal) {
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

func asSignals(sigs []syscall.Signal) (wanted []os.Signal) {
	for _, sig := range sigs {
		if !ignoredOnEntry(sig) {
			wanted = append(wanted, sig)
		}
	}
	return wanted
}

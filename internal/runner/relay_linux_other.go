//go:build linux && !amd64

package runner

import (
	"os"
	"os/signal"
	"syscall"
)

// deliver makes each of sigs arrive in signals, but for those that are ignored.
// The runtime leaves 32 and 34 to a C library, of which there is none here:
// they get the handler that it has for the other real-time signals.
func deliver(signals chan<- os.Signal, sigs []syscall.Signal) {
	for _, sig := range sigs {
		if ignoredOnEntry(sig) {
			continue
		}
		signal.Notify(signals, sig)
		if sig == 32 || sig == 34 {
			const realTime = 64
			var handler kernelAction
			swapAction(realTime, nil, &handler)
			swapAction(sig, &handler, nil)
		}
	}
}

// deliverFaults does the same for signals that also come of a fault of this
// process, which the runtime tells apart.
func deliverFaults(signals chan<- os.Signal, sigs []syscall.Signal) { deliver(signals, sigs) }

// absorb makes each of sigs have no effect. Nobody receives them: that they have a
// handler is enough.
func absorb(sigs []syscall.Signal) { deliver(make(chan os.Signal, 1), sigs) }

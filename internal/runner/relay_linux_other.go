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

package runner

import (
	"os"
	"testing"
)

// The kernel queues real-time signals, and none of them may get lost on the way.
func TestP5RealTimeSignalsInABurstAllArrive(t *testing.T) {
	wrapper, l := listen(t)
	const burst = 200
	for range burst {
		send(t, wrapper, 40)
	}
	eventually(t, "all arrive", func() bool { return count(l.command, "40") == burst })
}

// The handlers of faults are ours, but a fault stays a panic that can be recovered from.
func TestAFaultOfOurOwnIsStillTheRuntimes(t *testing.T) {
	for _, sig := range faults { // a handler that is installed twice would pass a fault on to itself
		var before kernelAction
		swapAction(sig, nil, &before)
		t.Cleanup(func() { swapAction(sig, &before, nil) })
	}
	deliverFaults(make(chan os.Signal, 1), faults)
	defer func() {
		if recover() == nil {
			t.Error("reading through a nil pointer did not panic")
		}
	}()
	var nowhere *int
	t.Error(*nowhere)
}

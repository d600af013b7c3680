package runner

import "testing"

// The kernel queues real-time signals, and none of them may get lost on the way.
func TestP5RealTimeSignalsInABurstAllArrive(t *testing.T) {
	wrapper, l := listen(t)
	const burst = 200
	for range burst {
		send(t, wrapper, 40)
	}
	eventually(t, "all arrive", func() bool { return count(l.command, "40") == burst })
}

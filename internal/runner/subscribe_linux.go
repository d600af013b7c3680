package runner

import (
	"os"

	"redlockrun/internal/relay"
)

// The channel that Subscribe returned, and the changes it made. There is one of each: signals
// belong to the process.
var (
	subscribed <-chan os.Signal
	zombies    reaping
)

// Subscribe starts the delivery of every signal that ends a program. This program does it first,
// and once; the delivery never ends. Signals of job control are delivered from the start of Run
// on. Until then the kernel reaps the processes that PID 1 adopts.
//
// Signals ignored on entry (nohup(1)) are not subscribed to and stay ignored, here and in the
// command. The Go runtime shows this only for HUP, INT and the terminal's stop signals.
func Subscribe() <-chan os.Signal {
	subscribed = relay.Signals()
	relay.Deliver(signalsWith(ends)...)
	relay.Absorb(signalsWith(absorbed)...)
	zombies = reapByKernel()
	return subscribed
}

// subscribeJobControl subscribes to the rest of the signals: for stops, continuations and resizes
// of the command's terminal.
func subscribeJobControl() {
	if subscribed != nil {
		relay.Deliver(signalsWith(suspends, resumes, nothing)...)
	}
}

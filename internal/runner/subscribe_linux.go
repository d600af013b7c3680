package runner

import (
	"os"

	"redlockrun/internal/relay"
)

// What Subscribe has returned, and what it has changed. There is one of each:
// signals belong to the process.
var (
	subscribed <-chan os.Signal
	zombies    reaping
)

// Subscribe starts the delivery of every signal that ends a program. It is the first
// thing that this one does, and done once; the delivery never ends. What belongs to
// job control is delivered from the start of Run on. Until then the kernel reaps what
// PID 1 adopts.
//
// What was ignored on entry (nohup(1)) is not subscribed to and so stays
// ignored, here and in the command; of that the Go runtime lets HUP, INT and the
// terminal's stop signals be seen.
func Subscribe() <-chan os.Signal {
	subscribed = relay.Signals()
	relay.Deliver(signalsWith(ends)...)
	relay.Absorb(signalsWith(absorbed)...)
	zombies = reapByKernel()
	return subscribed
}

// subscribeJobControl completes what Subscribe has begun. It is for the
// command, which stops, continues and is drawn anew as the terminal says.
func subscribeJobControl() {
	if subscribed != nil {
		relay.Deliver(signalsWith(suspends, resumes, nothing)...)
	}
}

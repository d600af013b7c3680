// Package startup prepares the process of redlockrun before nearly every other package is
// initialized. Only redlockrun itself imports it: a test, or another program, needs its signals
// and its processors as usual.
package startup

import (
	"runtime"

	"redlockrun/internal/outset"
)

// Until a command starts, redlockrun works on one thing at a time. With two processors of Go code,
// each goroutine that becomes ready wakes a thread that looks for work and finds none
// (docs/dev/start-up.md gives the cost). Package runner adds a processor when it forks.
func init() {
	outset.TakeSignals()
	runtime.GOMAXPROCS(1)
}

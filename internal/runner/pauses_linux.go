package runner

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// forking is what withoutPauses has changed.
var forking struct {
	sync.Mutex
	threads    int // that fork now
	percent    int // of the collector, before
	limit      int64
	processors int
}

// withoutPauses lets the rest of the program go on while the calling thread forks, until
// the function that it returns is called. The kernel keeps the thread until execve(2)
// returns, which can take minutes (a file server, a virus scanner), and the thread
// keeps one of the processors of Go code. So there have to be two; before and after that
// redlockrun has one (internal/outset/startup). There may be no more, since each needs a
// thread that the runtime may be unable to make while the command runs (makeThreads).
// And nothing may stop the world, which would wait for that thread: neither the collector,
// nor the runtime when it adapts to another number of processors, which GOMAXPROCS ends.
//
// The order matters: while a memory limit holds, a collection begins although the
// collector is off, so the limit goes first. And one that has begun is over to its last
// step, in which it waits for each thread once more, only when the world can be stopped:
// that comes last.
func withoutPauses() (end func()) {
	forking.Lock()
	defer forking.Unlock()
	if forking.threads++; forking.threads == 1 {
		if hasLimit() {
			forking.limit = debug.SetMemoryLimit(math.MaxInt64)
		}
		forking.percent = debug.SetGCPercent(-1)
		forking.processors = runtime.GOMAXPROCS(0)
		haveProcessors(2)
	}
	return withPauses
}

// haveProcessors lets Go code have n processors, and stops the world for a moment in any case.
func haveProcessors(n int) {
	if runtime.GOMAXPROCS(0) != n {
		runtime.GOMAXPROCS(n)
		return
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
}

func withPauses() {
	forking.Lock()
	defer forking.Unlock()
	if forking.threads--; forking.threads == 0 {
		runtime.GOMAXPROCS(forking.processors)
		debug.SetGCPercent(forking.percent)
		if hasLimit() {
			debug.SetMemoryLimit(forking.limit)
		}
	}
}

// hasLimit reports whether this process was started with a limit of memory. It sets none itself,
// and to set one stops the world.
func hasLimit() bool { return os.Getenv("GOMEMLIMIT") != "" }

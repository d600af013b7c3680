package runner

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// forking holds the settings that withoutPauses has changed.
var forking struct {
	sync.Mutex
	threads    int // that fork now
	percent    int // of the collector, before
	limit      int64
	processors int
}

// withoutPauses lets the rest of the program go on while the calling thread forks, until the
// returned function is called. The kernel keeps the thread until execve(2) returns. That can take
// minutes (a file server, a virus scanner), and the thread keeps one of the processors of Go code.
// So there must be two; before and after that redlockrun has one (internal/outset/startup). There
// may not be more: each needs a thread, and the runtime may be unable to make one while the
// command runs (makeThreads). Nothing may stop the world, which would wait for that thread. The
// collector is off, and GOMAXPROCS keeps the runtime from adapting to another number of
// processors.
//
// The order matters. While a memory limit holds, a collection begins although the collector is
// off, so the limit goes first. A collection that has begun waits for each thread once more in its
// last step. It is over only when the world can be stopped, so that comes last.
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

// haveProcessors gives Go code n processors, and always stops the world for a moment.
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

// hasLimit reports whether this process was started with a memory limit. It sets none itself, and
// to set one stops the world.
func hasLimit() bool { return os.Getenv("GOMEMLIMIT") != "" }

package runner

import "runtime"

// threads is how many threads of Go code there are at least when a command starts, but for one.
// After that so many are in use at a time, at most: one runs Go code, or two while a guard is
// executed; one waits for the command; one or two are kept by the kernel, as by a write to
// stderr or a file that is read; and one falls asleep or wakes up. A command whose output is
// copied needs more.
const threads = 4

// makeThreads makes the n threads that this process may need while the command runs. The runtime
// ends no thread that it has made, and ends the process when it cannot make one: and the
// command may have used up all processes that there may be (pids.max, RLIMIT_NPROC).
//
// Each goroutine keeps a thread to itself until all have one, and the caller has another. The
// first of them also makes the runtime start the thread that makes threads for such goroutines,
// which it needs for terminals and for another guard.
func makeThreads(n int) {
	has, over := make(chan struct{}), make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			has <- struct{}{}
			<-over
		}()
	}
	for range n {
		<-has
	}
	close(over)
}

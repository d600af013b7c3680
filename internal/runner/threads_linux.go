package runner

import "runtime"

// threads is the least number of threads of Go code when a command starts, less one. Later at most
// so many are in use at a time. One runs Go code, or two while a guard is executed. One waits for
// the command. One or two are in the kernel, for a write to stderr or a read of a file. One falls
// asleep or wakes up. A command whose output is copied needs more.
const threads = 4

// makeThreads makes the n threads that this process may need while the command runs. The runtime
// ends no thread that it has made, and ends the process if it cannot make one. The command may
// have used up all processes that are allowed (pids.max, RLIMIT_NPROC).
//
// Each goroutine keeps a thread to itself until all have one, and the caller has another. The
// first goroutine also makes the runtime start the thread that makes threads for such goroutines,
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

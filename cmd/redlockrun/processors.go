package main

import "runtime"

// twoProcessors lets two threads run Go code at a time, if it was one till now
// (package guard). One of them starts the command, and is kept by execve(2) until
// that returns, which is never if the file lies on a server that is gone; the
// other one renews the lease.
func twoProcessors() {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
}

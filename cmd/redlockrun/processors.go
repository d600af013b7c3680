package main

import "runtime"

// twoProcessors lets two threads run Go code at a time, if it was one till now
// (package guard). One of them starts the command, and is kept by execve(2) until
// that returns; the other one renews the lease. It is for a run without a guard,
// which would kill a command that hangs there beyond its lease.
func twoProcessors() {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
}

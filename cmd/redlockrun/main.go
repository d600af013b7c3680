// Redlockrun runs a command while holding a lock in Redis.
package main

import (
	"os"
	"runtime"
)

func main() {
	// There is never more to do than one processor does at once: a second one costs
	// threads, and a tenth of a short run.
	runtime.GOMAXPROCS(1)
	run(os.Args[1:]).exit()
}

// Redlockrun runs a command while holding a lock in Redis.
package main

import (
	"os"

	_ "redlockrun/internal/outset/startup" // from here on no signal is missed
)

func main() { run(os.Args[1:]).exit() }

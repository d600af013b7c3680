// Redlockrun runs a command while holding a lock in Redis.
package main

import "os"

func main() { run(os.Args[1:]).exit() }

//go:build !linux

// Scale reads /proc.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "scale: runs on Linux only")
	os.Exit(69)
}

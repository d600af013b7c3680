//go:build !linux

// Lostupdates stops processes, reads /proc and makes network namespaces.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "lostupdates: runs on Linux only")
	os.Exit(69)
}

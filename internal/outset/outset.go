// Package outset does what must be done before anything else: it is initialized
// before package syscall, since it imports nothing, and its path comes first (see
// "Package initialization" in Go's specification).
package outset

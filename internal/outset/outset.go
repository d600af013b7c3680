// Package outset runs before all other packages: it is initialized before package syscall, since
// it imports nothing, and its path sorts first (see "Package initialization" in Go's
// specification).
package outset

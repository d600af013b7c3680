//go:build !linux

package boottime

// BootID is "": nobody knows.
func BootID() string { return "" }

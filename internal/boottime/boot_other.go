//go:build !linux

package boottime

// BootID returns "": this system does not tell it.
func BootID() string { return "" }

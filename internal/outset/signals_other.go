//go:build !linux

package outset

// ReturnSignals does nothing: no signal is taken early on this system.
func ReturnSignals() {}

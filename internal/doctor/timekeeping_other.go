//go:build !linux

package doctor

// keepsTime is not known here.
func keepsTime() (kept, known bool) { return false, false }

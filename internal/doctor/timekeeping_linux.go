package doctor

import "golang.org/x/sys/unix"

// keepsTime reports whether something keeps the kernel's clock.
func keepsTime() (kept, known bool) {
	var t unix.Timex // asks, and sets nothing
	state, err := unix.Adjtimex(&t)
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, err == nil
}

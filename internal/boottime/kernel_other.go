//go:build !linux

package boottime

import "time"

// Suspended is always 0 here: on macOS and FreeBSD only the next renewal's answer shows that the
// machine slept.
func Suspended() time.Duration { return 0 }

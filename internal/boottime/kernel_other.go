//go:build !linux

package boottime

import "time"

// Suspended is always 0 here: on macOS and FreeBSD a sleep of the machine is
// noticed only by the answer of the next renewal.
func Suspended() time.Duration { return 0 }

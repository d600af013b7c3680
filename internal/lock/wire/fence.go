package wire

import (
	"strconv"
	"strings"
)

// IsFence reports whether the steps take a value for a fence: a number below 2^53, and maybe
// the lowest protocol behind it that may touch the lock.
func IsFence(value string) bool {
	digits, floor, floored := strings.Cut(value, " p")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || digits[0] == '+' || n+1 >= 1<<53 || len(value) > 32 {
		return false
	}
	_, err = strconv.ParseUint(floor, 10, 32)
	return !floored || err == nil && floor[0] != '+' && len(floor) <= 9
}

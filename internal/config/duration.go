package config

import (
	"fmt"
	"strings"
	"time"
)

// durationHint is the hint for every wrong duration.
const durationHint = "a duration is a number of seconds (60, 0.5) or has units (90s, 2m30s)"

// ParseDuration reads a number of seconds or a Go duration: digits, no sign, no exponent. A
// duration that is positive but rounds to 0 is an error, as it would mean "no limit".
func ParseDuration(text string) (time.Duration, error) {
	if strings.Trim(text, "0123456789.hmnuµs") != "" || !isDigit(text, 0) {
		return 0, fmt.Errorf("%s is not a duration", quotable(text))
	}
	unit := ""
	if strings.Trim(text, "0123456789.") == "" {
		unit = "s"
	}
	d, err := time.ParseDuration(text + unit)
	if err != nil || d == 0 && strings.Trim(text, "0.hmnuµs") != "" {
		return 0, fmt.Errorf("%s is not a duration", quotable(text))
	}
	return d, nil
}

func isDigit(text string, i int) bool {
	return i < len(text) && text[i] >= '0' && text[i] <= '9'
}

// Exact formats d so that ParseDuration can read it: 1m30s, not 1m30.000s, and 2m, not 2m0s.
func Exact(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Rounded formats d for a reader: to the millisecond.
func Rounded(d time.Duration) string { return Exact(d.Round(time.Millisecond)) }

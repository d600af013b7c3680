package main

import (
	"fmt"
	"strings"
	"time"
)

// durationHint is what to write instead, for every wrong duration.
const durationHint = "a duration is a number of seconds (60, 0.5) or a Go duration (90s, 2m30s)"

// parseDuration reads a number of seconds or a Go duration: digits, no sign,
// no exponent.
func parseDuration(text string) (time.Duration, error) {
	if strings.Trim(text, "0123456789.hmnuµs") != "" || !isDigit(text, 0) {
		return 0, fmt.Errorf("%s is no duration", shown(text))
	}
	unit := ""
	if strings.Trim(text, "0123456789.") == "" {
		unit = "s"
	}
	d, err := time.ParseDuration(text + unit)
	if err != nil || d == 0 && strings.Trim(text, "0.hmnuµs") != "" { // a limit that would be none
		return 0, fmt.Errorf("%s is no duration", shown(text))
	}
	return d, nil
}

func isDigit(text string, i int) bool {
	return i < len(text) && text[i] >= '0' && text[i] <= '9'
}

// shown is text as a message may quote it: escaped, short, and never what
// could be a URL with a password that went to the wrong flag.
func shown(text string) string {
	if len(text) > 40 || strings.ContainsAny(text, "@:/") {
		return "the value"
	}
	return fmt.Sprintf("%q", text)
}

// exact is d as a flag takes it back: 1m30s, not 1m30.000s, and 2m, not 2m0s.
func exact(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// rounded is d for a reader: to the millisecond.
func rounded(d time.Duration) string { return exact(d.Round(time.Millisecond)) }

package guard

import (
	"strings"
	"testing"
)

func TestAGuardIsExecutedEarlyForACommandLineThatNamesAKey(t *testing.T) {
	for line, want := range map[string]bool{
		"":                                  false,
		"redlockrun":                        false,
		"redlockrun --version":              false,
		"redlockrun --ttl 5 true":           false, // REDLOCKRUN_KEY may be set: a guard comes later
		"redlockrun -k job true":            true,
		"redlockrun -kjob true":             true,
		"redlockrun --key job true":         true,
		"redlockrun --ttl 5 --key=job -- x": true,
		"redlockrun --local --key job true": false,
		"redlockrun --key job --local=/x y": false,
		"redlockrun -k job -- tool --local": true,
		"redlockrun true -k job":            false, // REDLOCKRUN_KEY may be set
		"redlockrun -- tool -k job":         false,
		"redlockrun  -k job true":           false, // the first argument is empty
	} {
		if got := wantsGuard([]byte(strings.ReplaceAll(line, " ", "\x00"))); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// An operator command, which is a word as the very first argument, has nothing to guard.
func TestNoGuardIsExecutedEarlyForAnOperatorCommand(t *testing.T) {
	for _, word := range []string{"help", "completion", "copy-self", "status", "history", "unlock"} {
		for _, rest := range []string{"", "\x00-k\x00job", "\x00--key=job", "\x00job\x00-k\x00job\x00--\x00true"} {
			line := "redlockrun\x00" + word + rest
			if wantsGuard([]byte(line)) {
				t.Errorf("one is executed for %q", line)
			}
		}
	}
}

package guard

import (
	"strings"
	"testing"
)

func TestAGuardIsExecutedEarlyForACommandLineThatNamesAKey(t *testing.T) {
	for line, want := range map[string]bool{
		"":                                    false,
		"redlockrun":                          false,
		"redlockrun --version":                false,
		"redlockrun --ttl 5 true":             false, // REDLOCKRUN_KEY may be set: a guard comes later
		"redlockrun -k job true":              true,
		"redlockrun -kjob true":               true,
		"redlockrun --key job true":           true,
		"redlockrun --ttl 5 --key=job -- x":   true,
		"redlockrun --local --key job true":   false,
		"redlockrun --key job --local=/x y":   false,
		"redlockrun -k job -- tool --local":   true,
		"redlockrun -- tool -k job":           false,
		"redlockrun status --prefix x --tail": false,
	} {
		if got := promising([]byte(strings.ReplaceAll(line, " ", "\x00"))); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

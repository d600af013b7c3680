package wire

import (
	"strings"
	"testing"
)

func TestAFenceIsWhatTheStepsTakeForOne(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"1": true, "0": true, "1763790000123": true, "1763790000123 p2": true, "9007199254740990": true, "007": true,
		"": false, "9007199254740991": false, "-1": false, "+1": false, "1.5": false, "1e3": false, "word": false,
		" 1":  false,
		"1 p": false, "1 p-1": false, "1 p+1": false, "1 p1234567890": false, "1 q2": false, "1 p2 ": false,
		"1_0":                   false,
		strings.Repeat("9", 40): false, strings.Repeat("0", 33): false,
	} {
		if IsFence(value) != want {
			t.Errorf("%q is a fence: %v", value, !want)
		}
	}
}

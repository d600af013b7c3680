package lock

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheTailIsTheLastThreeLinesAsText(t *testing.T) {
	for _, c := range []struct{ output, want string }{
		{"", ""},
		{"\n\r\n", ""},
		{"one", "one"},
		{"one\ntwo\nthree\n", "one\ntwo\nthree"},
		{"zero\none\ntwo\nthree\n\n", "one\ntwo\nthree"},
		{"one\n\nthree\nfour", "\nthree\nfour"},
		{"\xff\xfe ok\x00\x1b[31m\n", "\uFFFD ok\x00\x1b[31m"},
		{"a\n" + strings.Repeat("x", 500), strings.Repeat("x", MaxTail)},
		{strings.Repeat("\xff.", 500), strings.Repeat("\uFFFD.", MaxTail/4)},
		{strings.Repeat("\u00e4", 200) + "b", strings.Repeat("\u00e4", 119) + "b"},
		{"last" + strings.Repeat("\n", 5000), "last"},
	} {
		got := TailOf([]byte(c.output))
		if got != c.want {
			t.Errorf("%.40q has the tail %q, not %q", c.output, got, c.want)
		}
		if len(got) > MaxTail || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
	}
}

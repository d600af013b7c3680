package console_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"redlockrun/internal/console"
)

func TestTextIsALineAndItsHints(t *testing.T) {
	var s sink
	c := console.New(console.Debug, false, s.write)
	c.Say(console.Message{Level: console.Error, Text: "it broke", Hints: []string{"do this", "or that"}})
	c.Say(console.Message{
		Level: console.Warning, Text: "trying again", Err: errors.New("refused"),
		Fields: []console.Field{
			{Name: "left", Value: 3, InText: true}, {Name: "said", Value: 4},
			{Name: "wherefore", Value: "a b", InText: true},
		},
	})
	c.Say(console.Message{Level: console.Info, Text: "fine"})
	c.Say(console.Message{Level: console.Debug, Text: "by the way"})
	c.Flush(patience)
	want := `redlockrun: error: it broke
redlockrun: hint: do this
redlockrun: hint: or that
redlockrun: warning: trying again: refused (left=3 wherefore=a b)
redlockrun: info: fine
redlockrun: debug: by the way
`
	if s.String() != want {
		t.Errorf("got\n%swant\n%s", s.String(), want)
	}
}

func TestTerminalControlCharactersAreEscaped(t *testing.T) {
	nasty := "a\x1b[31m\r\nb\x7f\u009b2J\u202e\xff\x00c\u00e9 \"q\" \\ \U000e0001"
	for _, json := range []bool{false, true} {
		var s sink
		c := console.New(console.Debug, json, s.write)
		c.Say(nastily(nasty, nasty))
		c.Flush(patience)
		lines := strings.Count(s.String(), "\n")
		if json && lines != 1 || !json && lines != 2 {
			t.Errorf("json %v: %d lines: %q", json, lines, s.String())
		}
		for _, r := range s.String() {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("json %v: %q is in %q", json, r, s.String())
			}
		}
		if !strings.Contains(s.String(), "é") {
			t.Errorf("json %v: a letter was escaped: %q", json, s.String())
		}
	}
}

// nastily is a message with text in all of its parts but value in a field.
func nastily(text, value string) console.Message {
	return console.Message{
		Level: console.Error, Text: text, Err: errors.New(text), Hints: []string{text},
		Fields: []console.Field{{Name: "field", Value: value, InText: true}},
	}
}

func FuzzMessagesAreOneLineAndPrintable(f *testing.F) {
	f.Add("plain", "field")
	f.Add("\x1b[2J\n\xff\u2028\U000e0001", "\"}{\\u0000")
	var s sink
	text, asJSON := console.New(console.Warning, false, s.write), console.New(console.Warning, true, s.write)
	f.Fuzz(func(t *testing.T, message, value string) {
		text.Say(nastily(message, value))
		text.Flush(patience)
		arePrintable(t, s.Take(), 2)
		asJSON.Say(nastily(message, value))
		asJSON.Flush(patience)
		out := s.Take()
		arePrintable(t, out, 1)
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q is no JSON", out)
		}
	})
}

// arePrintable fails the test unless out is so many lines that a terminal only shows.
func arePrintable(t *testing.T, out string, lines int) {
	t.Helper()
	body, ended := strings.CutSuffix(out, "\n")
	odd := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if !ended || strings.Count(out, "\n") != lines || !utf8.ValidString(body) || strings.ContainsFunc(body, odd) {
		t.Fatalf("%q", out)
	}
}

package console_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"redlockrun/internal/console"

	"github.com/rs/zerolog"
)

func TestTextIsALineAndItsHints(t *testing.T) {
	var s sink
	log, q := (console.Console{Level: zerolog.DebugLevel}).Start(s.write)
	log.Error().Strs(console.HintField, []string{"do this", "or that"}).Msg("it broke")
	log.Warn().Err(errors.New("refused")).Int("left", 3).Str("why", "a b").Msg("trying again")
	log.Info().Msg("fine")
	log.Debug().Msg("by the way")
	q.Flush(patience)
	want := `redlockrun: error: it broke
redlockrun: hint: do this
redlockrun: hint: or that
redlockrun: warning: trying again: refused (left=3 why=a b)
redlockrun: info: fine
redlockrun: debug: by the way
`
	if s.String() != want {
		t.Errorf("got\n%swant\n%s", s.String(), want)
	}
}

func TestWhatSteersATerminalIsEscaped(t *testing.T) {
	nasty := "a\x1b[31m\r\nb\x7f\u009b2J\u202e\xff\x00c\u00e9 \"q\" \\ \U000e0001"
	for _, json := range []bool{false, true} {
		var s sink
		log, q := (console.Console{Level: zerolog.DebugLevel, JSON: json}).Start(s.write)
		log.Error().Str("field", nasty).Err(errors.New(nasty)).Strs(console.HintField, []string{nasty}).Msg(nasty)
		q.Flush(patience)
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

func FuzzMessagesAreOneLineAndPrintable(f *testing.F) {
	f.Add("plain", "field")
	f.Add("\x1b[2J\n\xff\u2028\U000e0001", "\"}{\\u0000")
	var s sink
	text, texts := console.Console{}.Start(s.write)
	asJSON, lines := console.Console{JSON: true}.Start(s.write)
	f.Fuzz(func(t *testing.T, message, value string) {
		text.Error().Str("field", value).Msg(message)
		texts.Flush(patience)
		isPrintableLine(t, s.take())
		asJSON.Error().Str("field", value).Msg(message)
		lines.Flush(patience)
		out := s.take()
		isPrintableLine(t, out)
		if !json.Valid([]byte(out)) {
			t.Fatalf("%q is no JSON", out)
		}
	})
}

func isPrintableLine(t *testing.T, out string) {
	t.Helper()
	body, ended := strings.CutSuffix(out, "\n")
	if !ended || !utf8.ValidString(body) || strings.ContainsFunc(body, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Fatalf("%q", out)
	}
}

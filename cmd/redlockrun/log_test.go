package main

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// A sink is a stderr that a test looks at, and can hold up.
type sink struct {
	mu    sync.Mutex
	text  strings.Builder
	stuck chan struct{} // a write waits for its end; nil: none does
}

func (s *sink) write(line []byte) {
	if s.stuck != nil {
		<-s.stuck
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(line)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// logTo is a logger whose stderr is s.
func logTo(s *sink, l logging) (zerolog.Logger, *stderrQueue) {
	return l.start(s.write)
}

func TestTextIsALineAndItsHints(t *testing.T) {
	var s sink
	log, q := logTo(&s, logging{level: zerolog.DebugLevel})
	log.Error().Strs(hintField, []string{"do this", "or that"}).Msg("it broke")
	log.Warn().Err(errors.New("refused")).Int("left", 3).Str("why", "a b").Msg("trying again")
	log.Info().Msg("fine")
	log.Debug().Msg("by the way")
	q.flush(patience)
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
		log, q := logTo(&s, logging{level: zerolog.DebugLevel, json: json})
		log.Error().Str("field", nasty).Err(errors.New(nasty)).Strs(hintField, []string{nasty}).Msg(nasty)
		q.flush(patience)
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
	f.Fuzz(func(t *testing.T, message, value string) {
		for _, asJSON := range []bool{false, true} {
			var line []byte
			log := zerolog.New(sliceWriter{&line})
			log.Error().Str("field", value).Msg(message)
			out := plain(line)
			if asJSON {
				out = escapeJSON(line)
				if !json.Valid(out) {
					t.Fatalf("%q is no JSON", out)
				}
			}
			body, ended := strings.CutSuffix(string(out), "\n")
			if !ended || !utf8.ValidString(body) || strings.ContainsFunc(body, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("%q", out)
			}
		}
	})
}

// P9: a stderr that nobody reads holds up nothing; what is lost is counted.
func TestP9AFullStderrHoldsUpNothing(t *testing.T) {
	s := sink{stuck: make(chan struct{})}
	log, q := logTo(&s, logging{level: zerolog.InfoLevel})
	const many = 10 * queued
	for range many {
		log.Info().Msg("again")
	}
	q.flush(time.Millisecond) // returns although nothing can be written
	close(s.stuck)
	q.flush(patience)
	log.Info().Msg("last")
	q.flush(patience)
	written := strings.Count(s.String(), "info: again\n")
	if written < queued || written >= many {
		t.Errorf("%d of %d messages were written", written, many)
	}
	if !strings.Contains(s.String(), "warning: stderr did not take all messages (dropped=") {
		t.Errorf("what was lost is not said: %s", s.String()[max(0, s.text.Len()-200):])
	}
}

func TestNothingSaidNeedsNoWaiting(t *testing.T) {
	var s sink
	log, q := logTo(&s, logging{level: zerolog.WarnLevel})
	log.Info().Msg("not said")
	q.flush(patience)
	if q.started.Load() {
		t.Error("a goroutine was started")
	}
}

func TestLevelsByFlagAndVariable(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  map[string]string
		want zerolog.Level
	}{
		{nil, nil, zerolog.WarnLevel},
		{[]string{"-q"}, nil, zerolog.ErrorLevel},
		{[]string{"-v"}, nil, zerolog.InfoLevel},
		{[]string{"-vv"}, nil, zerolog.DebugLevel},
		{[]string{"-v", "-v"}, nil, zerolog.DebugLevel},
		{[]string{"--log-level", "debug"}, nil, zerolog.DebugLevel},
		{[]string{"--log-level", "error"}, nil, zerolog.ErrorLevel},
		{nil, map[string]string{"REDLOCKRUN_QUIET": "1"}, zerolog.ErrorLevel},
		{nil, map[string]string{"REDLOCKRUN_VERBOSE": "2"}, zerolog.DebugLevel},
		{nil, map[string]string{"REDLOCKRUN_VERBOSE": "0"}, zerolog.WarnLevel},
		{[]string{"-q"}, map[string]string{"REDLOCKRUN_VERBOSE": "1"}, zerolog.ErrorLevel},
	} {
		p := newProgram(func(name string) (string, bool) {
			if value, set := c.env[name]; set || name != configVar {
				return value, set
			}
			return "/dev/null", true
		}, discard)
		p.runF = func(*config) (ending, error) { return ending{}, nil }
		if err := p.execute(append(append([]string{"-k", "x"}, c.args...), "true")); err != nil || p.log.GetLevel() != c.want {
			t.Errorf("%q %v: %v, %v; want %v", c.args, c.env, p.log.GetLevel(), err, c.want)
		}
	}
}

// Programs rely on the names of the events.
func TestTheREADMENamesEveryEvent(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, file := range []string{"event.go", "../../internal/watchdog/watch.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`(?:\sevent[A-Z]\w+\s+= |\sreturn |"event", )"([a-z-]+)"`).FindAllSubmatch(source, -1) {
			names++
			if !strings.Contains(string(readme), "`"+string(name[1])+"`") {
				t.Errorf("the README lacks the event %s", name[1])
			}
		}
	}
	if names < 20 {
		t.Errorf("%d events were found", names)
	}
}

func discard([]byte) {}

package console_test

import (
	"errors"
	"regexp"
	"testing"

	"redlockrun/internal/console"
)

func TestTheOrderOfFieldsInJSONStaysAsItIs(t *testing.T) {
	var s sink
	c := console.New(console.Info, true, s.write).With(console.Field{Name: "key", Value: "job"})
	c.Say(console.Message{
		Level: console.Warning, Event: "odd", Text: "it broke", Err: errors.New("refused"), Hints: []string{"mend it"},
		Fields: []console.Field{{Name: "status", Value: 3}, {Name: "held_ms", Value: int64(4)}},
	})
	c.Flush(patience)
	want := `^{"level":"warn","key":"job","event":"odd","error":"refused","status":3,"held_ms":4,` +
		`"hint":\["mend it"\],"time":"[^"]+","message":"it broke"}\n$`
	if !regexp.MustCompile(want).MatchString(s.String()) {
		t.Errorf("got %s", s.String())
	}
}

func TestAConsoleWritesMessagesOfItsLevelAndAbove(t *testing.T) {
	var s sink
	c := console.New(console.Warning, false, s.write)
	c.Say(console.Message{Level: console.Info, Text: "not this"})
	c.WithLevel(console.Debug).Say(console.Message{Level: console.Debug, Text: "this"})
	console.Console{}.Say(console.Message{Level: console.Error, Text: "nowhere"})
	c.Flush(patience)
	if got := s.String(); got != "redlockrun: debug: this\n" {
		t.Errorf("got %q", got)
	}
}

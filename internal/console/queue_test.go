package console_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/proof/capture"
)

// patience bounds each wait for a line that must come: far more than a busy machine needs.
const patience = 60 * time.Second

// A sink is a stderr that a test can hold up.
type sink struct {
	capture.Output
	stuck chan struct{} // a write waits for its end; nil: none does
}

func (s *sink) write(line []byte) {
	if s.stuck != nil {
		<-s.stuck
	}
	s.Add(line)
}

// A stderr without a reader delays nothing; lost messages are counted.
func TestAFullStderrDelaysNothing(t *testing.T) {
	s := sink{stuck: make(chan struct{})}
	c := console.New(console.Info, false, s.write)
	const fit, many = 256, 10 * 256
	for range many {
		c.Say(console.Message{Level: console.Info, Text: "again"})
	}
	c.Flush(time.Millisecond) // returns although nothing can be written
	close(s.stuck)
	c.Flush(patience)
	c.Say(console.Message{Level: console.Info, Text: "last"})
	c.Flush(patience)
	written := strings.Count(s.String(), "info: again\n")
	if written < fit || written >= many {
		t.Errorf("%d of %d messages were written", written, many)
	}
	if !strings.Contains(s.String(), "warning: stderr did not take all messages (dropped=") {
		t.Errorf("what was lost is not said: %s", s.String())
	}
}

// A goroutine would outlive the bubble, which fails the test.
func TestWithoutMessagesThereIsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var s sink
		c := console.New(console.Warning, false, s.write)
		c.Say(console.Message{Level: console.Info, Text: "not said"})
		c.Flush(patience)
	})
}

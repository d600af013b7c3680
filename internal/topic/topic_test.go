package topic

import (
	"strings"
	"testing"
)

func TestATopicFitsOnASheetAndBeginsWithAnExample(t *testing.T) {
	for _, topic := range All() {
		if n := strings.Count(topic.Text, "\n"); n > 60 {
			t.Errorf("%s has %d lines", topic.Name, n)
		}
		for line := range strings.Lines(topic.Text) {
			if len(line) > 101 {
				t.Errorf("%s: a line has %d columns: %s", topic.Name, len(line), line)
			}
		}
		parts := strings.SplitN(topic.Text, "\n\n", 3)
		if len(parts) < 3 || !strings.Contains(parts[1], "  ") || !strings.Contains(parts[1], "REDLOCKRUN_") &&
			!strings.Contains(parts[1], "redlockrun --") {
			t.Errorf("%s does not begin with an example", topic.Name)
		}
		if topic.Short == "" || strings.Contains(topic.Short, "\n") {
			t.Errorf("%s is described as %q", topic.Name, topic.Short)
		}
	}
}

// The example uses the default ttl. The page on guarantees has the same numbers.
func TestTheExampleOfTimesIsComputed(t *testing.T) {
	topic, known := Named("times")
	if !known {
		t.Fatal("there is no topic times")
	}
	for _, want := range []string{"20.0 s  redlockrun renews", "48.4 s  if no renewal", "58.4 s  if the command",
		"58.9 s  if redlockrun", "59.4 s  the lease ends", "60.0 s  Redis removes", "each outage of Redis up to 25s",
		"more than 48s"} {
		if !strings.Contains(strings.ReplaceAll(topic.Text, "\n", " "), want) {
			t.Errorf("the text lacks %q:\n%s", want, topic.Text)
		}
	}
	if strings.ContainsAny(topic.Text, "{}") {
		t.Errorf("a value is not filled in:\n%s", topic.Text)
	}
}

package simulation

import (
	"strings"
	"testing"
)

// TestAGoroutineThatStaysIsSeen: a world whose clients leave one behind does not end as it should.
func TestAGoroutineThatStaysIsSeen(t *testing.T) {
	var v verdict
	v.bubble(t, func() {
		never := make(chan struct{})
		go func() { <-never }()
	})
	if len(v.wrong) != 1 || !strings.Contains(v.wrong[0], "deadlock") {
		t.Errorf("what is wrong is %q", v.wrong)
	}
}

package link

import (
	"context"
	"errors"
	"testing"
)

// What belongs to a connection that did not come about ends with the attempt.
func TestFailedConnectionsLeaveNothingBehind(t *testing.T) {
	var made []*conns
	failed := errors.New("no")
	l := &Link{ctx: t.Context(), source: &Source{},
		connect: func(_ context.Context, _ *Source, cs *conns) (client, error) {
			made = append(made, cs)
			return nil, failed
		}}
	if _, err := l.ask(t.Context(), func(client) error { return nil }); err != failed {
		t.Errorf("ask: %v", err)
	}
	if _, err := l.Subscribe(t.Context(), "channel"); err != failed {
		t.Errorf("subscribe: %v", err)
	}
	for _, cs := range made {
		if cs.ctx.Err() == nil {
			t.Error("its context goes on")
		}
	}
	if len(made) != 2 {
		t.Errorf("%d connections", len(made))
	}
}

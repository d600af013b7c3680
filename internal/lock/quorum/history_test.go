package quorum

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// What a client does to a lock, and what it is told.
type lockCall struct {
	what string // acquire, renew, release
	run  string
	ttl  time.Duration // less the drift
	at   time.Duration // when it was called
}

type lockReply struct {
	outcome string // ok, no, unknown
	fence   int64
	at      time.Duration
}

// A lockState is a lock with a fence, as one server would keep it.
type lockState struct {
	owner string
	until time.Duration // the earliest instant at which the lock may lapse
	fence int64
}

// lockModel is what a lock may answer. The end of a lease is the earliest that
// its servers can have meant: counted from the call of what took or renewed it.
var lockModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{lockState{}} },
	Step: func(state, input, output any) []any {
		return stepLock(state.(lockState), input.(lockCall), output.(lockReply))
	},
	Equal: func(a, b any) bool { return a.(lockState) == b.(lockState) },
	DescribeOperation: func(input, output any) string {
		in, out := input.(lockCall), output.(lockReply)
		return fmt.Sprintf("%s %s: %s %d", in.run[len(in.run)-4:], in.what, out.outcome, out.fence)
	},
}).ToModel()

func stepLock(s lockState, in lockCall, out lockReply) []any {
	lapsed := s.owner == "" || out.at >= s.until
	taken := lockState{owner: in.run, until: in.at + in.ttl, fence: out.fence}
	freed := lockState{fence: s.fence}
	switch in.what + " " + out.outcome {
	case "acquire ok":
		if lapsed && out.fence > s.fence {
			return []any{taken}
		}
		return nil
	case "renew ok":
		if s.owner == in.run {
			taken.fence = s.fence
			return []any{taken}
		}
		return nil
	case "renew unknown": // it may have been done or not
		if s.owner == in.run {
			taken.fence, taken.until = s.fence, max(s.until, taken.until)
			return []any{s, taken}
		}
		return []any{s}
	case "release ok":
		if s.owner == in.run {
			return []any{freed}
		}
		return nil
	case "renew no", "release no", "release unknown": // the client stops in any case
		if s.owner == in.run {
			return []any{s, freed}
		}
		return []any{s}
	}
	return []any{s} // an acquire that did not succeed takes back what it did
}

// A history is what all clients did to one lock.
type history struct {
	began time.Time

	mu     sync.Mutex
	ops    []porcupine.Operation
	claims []claim
}

// A claim is a time in which a client believes that it has the lock.
type claim struct {
	run      string
	fence    int64
	from, to time.Duration
}

func newHistory() *history { return &history{began: time.Now()} }

func (h *history) now() time.Duration { return time.Since(h.began) }

func (h *history) add(client int, in lockCall, outcome string, fence int64) {
	out := lockReply{outcome: outcome, fence: fence, at: h.now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: client, Input: in, Output: out, Call: int64(in.at), Return: int64(out.at),
	})
}

func (h *history) claim(c claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims = append(h.claims, c)
}

// held is how often the lock has been held so far.
func (h *history) held() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.claims)
}

// check fails if two claims overlap, if a fence does not grow, or if no lock can
// have answered like this.
func (h *history) check(t *testing.T) {
	t.Helper()
	slices.SortFunc(h.claims, func(a, b claim) int { return cmp.Compare(a.from, b.from) })
	for i, c := range h.claims[min(1, len(h.claims)):] {
		before := h.claims[i]
		if c.from < before.to {
			t.Errorf("%s has it from %s, and %s until %s", c.run, c.from, before.run, before.to)
		}
		if c.fence <= before.fence {
			t.Errorf("%s has fence %d after %d of %s", c.run, c.fence, before.fence, before.run)
		}
	}
	verdict := porcupine.CheckOperationsTimeout(lockModel, h.ops, time.Minute)
	if verdict != porcupine.Ok {
		t.Errorf("history of %d operations: %s", len(h.ops), verdict)
	}
	t.Logf("held %d times, %d operations, history %s", len(h.claims), len(h.ops), verdict)
}

func TestHistoryModelKnowsRightFromWrong(t *testing.T) {
	const ttl = 10 * time.Second
	op := func(client int, from, to int, what, run, outcome string, fence int64) porcupine.Operation {
		call, ret := time.Duration(from)*time.Second, time.Duration(to)*time.Second
		return porcupine.Operation{
			ClientId: client, Call: int64(call), Return: int64(ret),
			Input:  lockCall{what: what, run: run, ttl: ttl, at: call},
			Output: lockReply{outcome: outcome, fence: fence, at: ret},
		}
	}
	const a, b = "run-aaaa", "run-bbbb"
	for name, test := range map[string]struct {
		want porcupine.CheckResult
		ops  []porcupine.Operation
	}{
		"one after another": {porcupine.Ok, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(0, 2, 3, "release", a, "ok", 0),
			op(1, 4, 5, "acquire", b, "ok", 2),
		}},
		"two at once": {porcupine.Illegal, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(1, 4, 5, "acquire", b, "ok", 2),
		}},
		"after the lease": {porcupine.Ok, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(1, 10, 11, "acquire", b, "ok", 2),
		}},
		"after a renewed lease": {porcupine.Illegal, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(0, 8, 9, "renew", a, "ok", 0),
			op(1, 10, 11, "acquire", b, "ok", 2),
		}},
		"perhaps renewed": {porcupine.Ok, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(0, 8, 9, "renew", a, "unknown", 0),
			op(1, 10, 11, "acquire", b, "ok", 2),
		}},
		"same fence": {porcupine.Illegal, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(0, 2, 3, "release", a, "ok", 0),
			op(1, 4, 5, "acquire", b, "ok", 1),
		}},
		"renewed when lost": {porcupine.Illegal, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(1, 10, 11, "acquire", b, "ok", 2),
			op(0, 12, 13, "renew", a, "ok", 0),
		}},
		"released after a loss": {porcupine.Ok, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(0, 2, 3, "renew", a, "no", 0),
			op(1, 4, 5, "acquire", b, "ok", 2),
		}},
		"released without right": {porcupine.Illegal, []porcupine.Operation{
			op(0, 0, 1, "acquire", a, "ok", 1),
			op(1, 10, 11, "acquire", b, "ok", 2),
			op(0, 12, 13, "release", a, "ok", 0),
		}},
	} {
		if got := porcupine.CheckOperationsTimeout(lockModel, test.ops, time.Minute); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

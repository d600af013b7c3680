package locktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlockrun/internal/lock"

	"github.com/anishathalye/porcupine"
)

// Operators and runs race for one job, again and again, each time for one of a name of its
// own. What all of them were told must be what one of them after the other would be told.

// A jobState is a job with its pause, as one server would keep it.
type jobState struct {
	holder string // a run; "pause"; "": nobody
	before string // the run that had it last
	wanted bool   // a pause
	marked bool   // the holder is to stop
}

// An actCall is what a client does, and an actReply what it is told.
type (
	actCall  struct{ what, run string }
	actReply struct{ said string }
)

const pauseHolds = "pause"

func stepJob(s jobState, in actCall, out actReply, shared bool) (jobState, bool) {
	if s.wanted && s.holder == "" {
		s.holder = pauseHolds // whoever looks finds it so
	}
	switch in.what + " " + out.said {
	case "acquire ok":
		return jobState{holder: in.run, wanted: s.wanted, before: s.before}, s.holder == ""
	case "acquire busy":
		return s, s.holder != "" && s.holder != pauseHolds
	case "acquire paused":
		return s, s.holder == pauseHolds
	case "acquire stopped": // marked between its hand-over and its confirmation: it had the lock, and has given it back
		return s, s.holder == ""
	case "renew ok", "renew stop":
		return s, s.holder == in.run && s.marked == (out.said == "stop")
	case "release ok", "unlock ok":
		if shared && s.holder != in.run {
			return s, s.before == in.run // another has done the rest of it
		}
		return jobState{wanted: s.wanted, before: in.run}, s.holder == in.run
	case "renew lost", "release lost":
		return s, s.holder != in.run
	case "pause ok":
		s.wanted = true
		return s, true
	case "resume ok":
		if s.holder == pauseHolds {
			s.holder = ""
		}
		s.wanted = false
		return s, true
	case "stop ok":
		marked := s
		marked.marked = true
		return marked, s.holder == in.run
	case "stop no":
		return s, s.holder != in.run || s.marked
	case "unlock no":
		return s, s.holder != in.run
	case "forget ok":
		return s, s.holder == "" && !s.wanted
	case "forget no":
		return s, true
	}
	return s, false
}

func jobModel(shared bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return jobState{} },
		Step: func(state, in, out any) (bool, any) {
			next, ok := stepJob(state.(jobState), in.(actCall), out.(actReply), shared)
			return ok, next
		},
		DescribeOperation: func(in, out any) string {
			c := in.(actCall)
			return fmt.Sprintf("%s %s: %s", c.run[max(0, len(c.run)-4):], c.what, out.(actReply).said)
		},
	}
}

// A Race is the clients of one job, and the history of what they were told.
type Race struct {
	Store lock.Store
	Desk  lock.Operator

	// InLine, if not nil, is how many runs stand in line.
	InLine func(name string) int64

	// Shared says that the lock is in several servers: what frees it can be the work of two
	// at once, and both are told so.
	Shared bool

	t     *testing.T
	name  string
	began time.Time

	clients sync.WaitGroup
	mu      sync.Mutex
	history []porcupine.Operation
}

func (r *Race) note(client int, call actCall, at time.Duration, said string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, porcupine.Operation{
		ClientId: client, Input: call, Output: actReply{said}, Call: int64(at), Return: int64(time.Since(r.began)),
	})
}

func (r *Race) request(limit time.Duration) lock.Request {
	req := RequestFor(r.name)
	req.Wait.Limit = limit
	req.History = 50
	return req
}

// acquire returns nil if the lock was not to be had.
func (r *Race) acquire(client int, req lock.Request) lock.Lease {
	at := time.Since(r.began)
	l, err := r.Store.Acquire(context.Background(), req)
	var held *lock.HeldError
	said := "ok"
	switch {
	case errors.As(err, &held) && held.Pause != nil:
		said = "paused"
	case errors.As(err, &held):
		said = "busy"
	case errors.As(err, new(*lock.StoppedError)):
		said = "stopped"
	case err != nil:
		said = err.Error()
	}
	r.note(client, actCall{"acquire", req.Holder.Run}, at, said)
	return l
}

func (r *Race) renew(client int, l lock.Lease, run string) {
	at := time.Since(r.began)
	_, err := l.Renew(Limited(r.t, Patience))
	said := "ok"
	switch {
	case errors.Is(err, lock.ErrLost):
		said = "lost"
	case err != nil:
		said = err.Error()
	case l.StopAsked():
		said = "stop"
	}
	r.note(client, actCall{"renew", run}, at, said)
}

func (r *Race) release(client int, l lock.Lease, run string) {
	at := time.Since(r.began)
	err := l.Release(Limited(r.t, Patience), lock.Farewell{Outcome: lock.Outcome{How: lock.Ok, Attempts: 1}})
	said := "ok"
	if errors.Is(err, lock.ErrLost) {
		said = "lost"
	} else if err != nil {
		said = err.Error()
	}
	r.note(client, actCall{"release", run}, at, said)
}

func (r *Race) change(client int, c lock.Change) {
	at := time.Since(r.began)
	out, err := r.Desk.Change(context.Background(), r.name, c)
	said := "ok"
	switch {
	case errors.As(err, new(*lock.RefusedError)), err == nil && !out.Done && c.Act != lock.Paused && c.Act != lock.Resumed:
		said = "no"
	case err != nil:
		said = err.Error()
	}
	r.note(client, actCall{string(c.Act), c.Run}, at, said)
}

// run is one whole run: it has the lock, renews it once, and gives it back.
func (r *Race) run(client int, limit time.Duration) {
	r.clients.Go(func() {
		req := r.request(limit)
		if l := r.acquire(client, req); l != nil {
			r.renew(client, l, req.Holder.Run)
			r.release(client, l, req.Holder.Run)
		}
	})
}

// operate does one thing after the other to a run.
func (r *Race) operate(client int, run string, changes ...lock.Event) {
	r.clients.Go(func() {
		for _, act := range changes {
			c := ChangeFor(act)
			if act == lock.Halted || act == lock.Freed {
				c.Run = run
			}
			r.change(client, c)
		}
	})
}

// races are what goes on at once, each client beside the others.
var races = map[string]func(r *Race){
	"pause against acquire and hand-over": func(r *Race) {
		held, run := r.holder()
		for i := range 3 {
			r.run(i+2, Patience)
		}
		if r.InLine != nil {
			Until(r.t, "three in line", func() bool { return r.InLine(r.name) == 3 })
		}
		r.run(5, 0)
		r.operate(6, "", lock.Paused, lock.Forgotten, lock.Forgotten, lock.Forgotten, lock.Resumed) // the middle ones take time
		r.clients.Go(func() { r.release(1, held, run) })
	},
	"pause against resume": func(r *Race) {
		r.run(1, Patience)
		r.run(2, 0)
		r.operate(3, "", lock.Paused, lock.Resumed)
		r.operate(4, "", lock.Paused, lock.Resumed)
	},
	"stop against renewal, release and the successor": func(r *Race) {
		held, run := r.holder()
		r.run(2, Patience)
		r.operate(3, run, lock.Halted)
		r.clients.Go(func() { r.renew(1, held, run); r.release(1, held, run) })
	},
	"unlock against renewal and hand-over": func(r *Race) {
		held, run := r.holder()
		r.run(2, Patience)
		r.operate(3, run, lock.Freed)
		r.operate(4, run, lock.Freed)
		r.clients.Go(func() { r.renew(1, held, run); r.release(1, held, run) })
	},
	"forget against release": func(r *Race) {
		held, run := r.holder()
		r.operate(2, "", lock.Forgotten)
		r.clients.Go(func() { r.release(1, held, run) })
		r.run(3, Patience)
	},
	"two operators at once": func(r *Race) {
		held, run := r.holder()
		r.operate(2, run, lock.Paused, lock.Halted, lock.Resumed)
		r.operate(3, run, lock.Halted, lock.Paused, lock.Freed, lock.Resumed)
		r.run(4, Patience)
		r.clients.Go(func() { r.renew(1, held, run); r.release(1, held, run) })
	},
}

// holder is a run that has the lock when the race begins.
func (r *Race) holder() (lock.Lease, string) {
	req := r.request(0)
	return r.acquire(1, req), req.Holder.Run
}

// judge sees that nobody is left in line, and that the answers go together.
func (r *Race) judge() {
	r.clients.Wait()
	if r.InLine != nil && r.InLine(r.name) != 0 {
		r.t.Errorf("%d are left in line", r.InLine(r.name))
	}
	model := jobModel(r.Shared)
	if result, _ := porcupine.CheckOperationsVerbose(model, r.history, Patience); result != porcupine.Ok {
		for _, op := range r.history {
			r.t.Logf("%d..%d %d: %s", op.Call, op.Return, op.ClientId, model.DescribeOperation(op.Input, op.Output))
		}
		r.t.Errorf("%s: %v", r.name, result)
	}
}

// RaceOperators lets operators race with runs, 50 times each way, or a thousand times in a
// long test, so many races at once. begin makes the store of the races of one way.
func RaceOperators(t *testing.T, atOnce int, begin func(t *testing.T) Race) {
	times := 50
	if Length(t, 0) > 0 {
		times = 1000
	}
	for name, start := range races {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := begin(t)
			var next atomic.Int64
			var running sync.WaitGroup
			for range atOnce {
				running.Go(func() {
					for i := next.Add(1); i <= int64(times) && !t.Failed(); i = next.Add(1) {
						r := &Race{
							Store: place.Store, Desk: place.Desk, InLine: place.InLine, Shared: place.Shared,
							t: t, name: fmt.Sprintf("job-%d", i), began: time.Now(),
						}
						start(r)
						r.judge()
					}
				})
			}
			running.Wait()
		})
	}
}

// ChangeFor is what an operator at a desk wants, for an hour if it is a pause.
func ChangeFor(act lock.Event) lock.Change {
	return lock.Change{
		Act: act, Why: "deploy 7", For: time.Hour,
		By: lock.Holder{Run: lock.NewRunID(), Host: "desk", PID: 7, User: "alice", Command: "redlockrun", Start: time.Now()},
	}
}

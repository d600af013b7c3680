package quorum

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// A simServer is a master in virtual time, for one lock.
type simServer struct {
	name    string
	latency func() time.Duration // of one way
	uptime  func() time.Duration // nil: long enough

	mu      sync.Mutex
	run     string // whose the lock is; "" nobody's
	term    term
	until   time.Time // of the lock
	counter int64
	gone    map[string]term
	down    bool
	refusal string        // what it answers to everything; "": nothing
	frozen  chan struct{} // not nil while frozen; closed by thaw
	late    []func()      // what arrived while frozen and is not waited for any more
	steps   int
	before  func(what string) // if set, called before each step is done
}

// newSim is a quorum of n servers, each a fixed way of d away.
func newSim(t *testing.T, n int, d time.Duration) (*quorum, []*simServer) {
	t.Helper()
	servers := make([]*simServer, n)
	names := make([]string, n)
	for i := range servers {
		names[i] = fmt.Sprintf("node-%d:6379", i)
		servers[i] = &simServer{name: names[i], latency: func() time.Duration { return d }, gone: make(map[string]term)}
	}
	t.Cleanup(func() {
		for _, s := range servers {
			if s.isFrozen() {
				s.thaw()
			}
		}
		time.Sleep(time.Minute) // a bubble ends with its last request
	})
	q, err := newQuorum(names, func(req lock.Request) (masters []master) {
		for _, s := range servers {
			masters = append(masters, &simMaster{s, req})
		}
		return masters
	}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return q, servers
}

func (s *simServer) isFrozen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen != nil
}

func (s *simServer) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = make(chan struct{})
}

// thaw lets the server do what it was asked for meanwhile, in order.
func (s *simServer) thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.frozen)
	s.frozen = nil
	for _, f := range s.late {
		f()
	}
	s.late = nil
}

// lose restarts the server without its lock, but with its counter.
func (s *simServer) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = ""
}

// grab gives the lock to somebody else.
func (s *simServer) grab(run string, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.term, s.until = run, term{round: 1}, time.Now().Add(ttl)
}

// holder is whose the lock is now.
func (s *simServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owner()
}

func (s *simServer) owner() string {
	if s.run != "" && !time.Now().Before(s.until) {
		s.run = ""
	}
	return s.run
}

func (s *simServer) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// A simMaster is a simServer as one acquisition sees it.
type simMaster struct {
	*simServer
	req lock.Request
}

func (m *simMaster) Address() string { return m.name }

// simStep brings a request to the server and its answer back; f runs in the server.
func simStep[T any](ctx context.Context, m *simMaster, what string, f func() T) (reply T, err error) {
	type answer struct {
		reply T
		err   error
	}
	arrived := make(chan answer, 1)
	go func() {
		time.Sleep(m.latency())
		var a answer
		a.err = m.arrive(ctx, what, func() { a.reply = f() }, func() { f() })
		arrived <- a
	}()
	select {
	case a := <-arrived:
		if a.err == nil && !lock.Sleep(ctx, m.latency()) {
			return reply, m.unanswered(ctx.Err())
		}
		return a.reply, a.err
	case <-ctx.Done(): // the request arrives nevertheless
		return reply, m.unanswered(ctx.Err())
	}
}

func (m *simMaster) arrive(ctx context.Context, what string, f, late func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps++
	for m.frozen != nil {
		thawed := m.frozen
		if ctx.Err() != nil {
			m.late = append(m.late, late)
			return nil
		}
		m.mu.Unlock()
		select {
		case <-thawed:
		case <-ctx.Done():
		}
		m.mu.Lock()
	}
	switch {
	case m.down:
		return m.unanswered(errors.New("connection refused"))
	case m.refusal != "":
		return m.refused()
	}
	if m.before != nil {
		m.before(what)
	}
	f()
	return nil
}

func (m *simMaster) unanswered(err error) error {
	return &lock.UnavailableError{Address: m.name, Err: err}
}

func (m *simMaster) refused() error {
	err := link.ReadRefusal(m.refusal)
	return &lock.UnavailableError{Address: m.name, Err: err, Denied: link.Final(err)}
}

func (m *simMaster) take(b term) {
	m.run, m.term, m.until = m.req.Holder.Run, b, time.Now().Add(min(m.req.Times.TTL, probation))
}

func (m *simMaster) revoked(b term) bool {
	last, ok := m.gone[m.req.Holder.Run]
	return ok && last.String() >= b.String()
}

func (m *simMaster) grant(ctx context.Context, b term, asked int64) (vote, error) {
	return simStep(ctx, m, "grant", func() vote {
		switch owner := m.owner(); {
		case owner != "" && owner != m.req.Holder.Run:
			return vote{kind: refused, owner: fmt.Sprint(owner, m.term.round), held: lock.HeldError{
				Name: m.req.Name, Holder: lock.Holder{Run: owner}, TTL: time.Until(m.until),
			}}
		case owner != "" && m.term == b:
			return vote{kind: duplicate}
		case owner != "" && m.term.String() > b.String(), m.revoked(b):
			return vote{kind: revoked}
		case m.uptime != nil && m.uptime() < max(m.req.Times.TTL, lock.MinUptime):
			return vote{kind: abstained, wait: max(m.req.Times.TTL, lock.MinUptime) - m.uptime()}
		}
		m.counter = max(m.counter+1, asked)
		m.take(b)
		return vote{kind: granted, fence: m.counter}
	})
}

func (m *simMaster) learn(string) {}

func (m *simMaster) bump(ctx context.Context, b term, fence int64) (bool, error) {
	return simStep(ctx, m, "bump", func() bool {
		if m.ownership(b) != wire.Own {
			return false
		}
		m.counter = max(m.counter, fence)
		return true
	})
}

func (m *simMaster) ownership(b term) wire.Ownership {
	switch owner := m.owner(); {
	case owner == m.req.Holder.Run && m.term == b:
		return wire.Own
	case owner == "" || owner == m.req.Holder.Run:
		return wire.Free
	}
	return wire.Others
}

func (m *simMaster) renew(ctx context.Context, b term) (owner wire.Ownership, stop bool, err error) {
	owner, err = simStep(ctx, m, "renew", func() wire.Ownership {
		s := m.ownership(b)
		if s == wire.Own {
			m.until = time.Now().Add(m.req.Times.TTL)
		}
		return s
	})
	return owner, false, err
}

func (m *simMaster) repair(ctx context.Context, b term, fence int64, _ time.Duration) (wire.Ownership, error) {
	return simStep(ctx, m, "repair", func() wire.Ownership {
		s := m.ownership(b)
		if s == wire.Free && !m.revoked(b) && (m.owner() == "" || m.term.String() < b.String()) {
			m.take(b)
			m.counter = max(m.counter, fence)
			s = wire.Own
		}
		return s
	})
}

func (m *simMaster) free(b term, keep time.Duration) (s wire.Ownership) {
	if m.owner() == m.req.Holder.Run && m.term.String() <= b.String() {
		if m.until = time.Now().Add(keep); keep <= 0 {
			m.run = ""
		}
		return wire.Own
	}
	return m.ownership(b)
}

func (m *simMaster) release(ctx context.Context, b term, end releaseRequest) (wire.Ownership, error) {
	return simStep(ctx, m, "release", func() wire.Ownership { return m.free(b, end.Keep) })
}

func (m *simMaster) giveUp(ctx context.Context, b term, _ releaseRequest) error {
	_, err := simStep(ctx, m, "give up", func() wire.Ownership {
		m.gone[m.req.Holder.Run] = b
		return m.free(b, 0)
	})
	return err
}

// look sees the one lock of the server under each name.
func (m *simMaster) look(ctx context.Context, names []string) ([]*lock.HeldError, error) {
	return simStep(ctx, m, "look", func() []*lock.HeldError {
		all := make([]*lock.HeldError, len(names))
		if run := m.owner(); run != "" {
			for i, name := range names {
				all[i] = &lock.HeldError{Name: name, Holder: lock.Holder{Run: run}}
			}
		}
		return all
	})
}

func (m *simMaster) keepOutput(context.Context, lock.Output) error { return nil }

func (m *simMaster) close() {}

// left is how long the lock is taken.
func (s *simServer) left() (d time.Duration) {
	s.set(func() { d = time.Until(s.until) })
	return d
}

func (s *simServer) fence() (n int64) {
	s.set(func() { n = s.counter })
	return n
}

// asked is how many requests came since it was asked last.
func (s *simServer) asked() (n int) {
	s.set(func() { n, s.steps = s.steps, 0 })
	return n
}

// anyLatency is a way of 50 us to 2 ms.
func anyLatency() time.Duration { return 50*time.Microsecond + rand.N(2*time.Millisecond) }

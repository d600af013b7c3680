//go:build linux

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"redlockrun/internal/lock"
)

// A queue is a lock that one holds and for which others wait. Who has passed it on waits
// at the end, so that the line stays as long as it is.
type queue struct {
	of   *load
	name string
	ttl  time.Duration
	next chan struct{} // tells the holder to pass the lock on

	mu      sync.Mutex
	waiting int
	left    time.Time // when the last holder began to give it back; zero: nobody has
	taken   chan struct{}
}

// form makes lines, and returns when all stand in them.
func (l *load) form(o order) error {
	for i := range o.Count {
		q := &queue{of: l, name: fmt.Sprintf("line-%05d", o.First+i), ttl: o.TTL, next: make(chan struct{}),
			taken: make(chan struct{}, 1)}
		l.lines = append(l.lines, q)
		if err := q.fill(o.Depth); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

// fill adds a holder, and then depth waiters.
func (q *queue) fill(depth int) error {
	failed := make(chan error, 1)
	go q.member(failed)
	if err := q.until(failed, func() bool { return !q.left.IsZero() }); err != nil {
		return err
	}
	return q.lengthen(depth)
}

// lengthen adds waiters, a few at a time.
func (q *queue) lengthen(more int) error {
	failed := make(chan error, more)
	q.mu.Lock()
	before := q.waiting
	q.mu.Unlock()
	for begun := 1; begun <= more; begun++ {
		go q.member(failed)
		if err := q.until(failed, func() bool { return before+begun-q.waiting < together }); err != nil {
			return err
		}
	}
	return q.until(failed, func() bool { return q.waiting == before+more })
}

// until waits for something that is so in a moment.
func (q *queue) until(failed <-chan error, so func() bool) error {
	for {
		q.mu.Lock()
		done := so()
		q.mu.Unlock()
		if done {
			return nil
		}
		select {
		case err := <-failed:
			return err
		case <-time.After(time.Millisecond):
		}
	}
}

// member waits for the lock, holds it, passes it on, and waits again.
func (q *queue) member(failed chan<- error) {
	for {
		req := request(q.name, q.ttl, lock.Forever)
		inLine := false
		req.OnBusy = func(h *lock.HeldError) {
			if !inLine && h.Position > 0 {
				inLine = true
				q.moved(1)
			}
		}
		lease, err := q.of.store.Acquire(context.Background(), req)
		if inLine {
			q.moved(-1)
		}
		if err != nil {
			failed <- err
			return
		}
		q.began()
		if !q.of.keep(lease, req.Times, q.next) {
			continue
		}
		q.ends()
		if err := lease.Release(context.Background(),
			lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}); err != nil {
			q.of.note(func(a *answer) { a.Failed++ })
		}
	}
}

func (q *queue) moved(by int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting += by
}

// began notes that the next one has the lock, and how long that took.
func (q *queue) began() {
	q.mu.Lock()
	first, left := q.left.IsZero(), q.left
	q.left = time.Now()
	q.mu.Unlock()
	q.of.note(func(a *answer) {
		a.Held++
		if !first {
			a.Took = append(a.Took, since(left))
		}
	})
	if !first {
		q.taken <- struct{}{}
	}
}

func (q *queue) ends() {
	q.mu.Lock()
	q.left = time.Now()
	q.mu.Unlock()
	q.of.note(func(a *answer) { a.Held-- })
}

// pass lets the locks be passed on in turn, at a pace.
func (l *load) pass(o order) {
	pace := time.NewTicker(o.Every)
	defer pace.Stop()
	end := time.Now().Add(o.For)
	for i := 0; time.Now().Before(end) && o.Count > 0; i++ {
		q := l.lines[o.First : o.First+o.Count][i%o.Count]
		q.next <- struct{}{}
		<-q.taken
		<-pace.C
	}
}

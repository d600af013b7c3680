//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
)

// An order is what a process that makes load is told to do; it answers when that is done.
type order struct {
	Do    string // hold, line, lengthen, pass, tell
	First int    // of the keys
	Count int    // of holders, or of lines
	Depth int    // of each line: how many wait; lengthen: how many more
	TTL   time.Duration
	Every time.Duration // pass: the pause between two hand-overs
	For   time.Duration // pass: how long
}

// An answer is what became of it. Durations are in ms.
type answer struct {
	Err       string
	Renewals  int       // since the load began
	Failed    int       // tries of renewals without an answer
	Lost      int       // leases
	Held      int       // how many hold now
	Took      []float64 // hand-overs since the last answer
	Renewing  []float64 // likewise: renewals
	Acquiring []float64 // likewise: acquires of free locks
}

// A load is the holders and waiters of one process.
type load struct {
	store lock.Store
	lines []*queue

	mu   sync.Mutex
	told answer
}

// serve makes load at a server as it is told, until stdin ends.
func serve(url string) error {
	debug.SetGCPercent(400) // what it takes from the server's machine is to be little
	store, err := line.Open(lock.Servers{URLs: []string{url}, Prefix: lock.DefaultPrefix})
	if err != nil {
		return err
	}
	l := &load{store: store}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := in.Decode(&o); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := out.Encode(l.obey(o)); err != nil {
			return err
		}
	}
}

func (l *load) obey(o order) answer {
	var err error
	switch o.Do {
	case "hold":
		err = l.hold(o)
	case "line":
		err = l.form(o)
	case "lengthen":
		err = l.lines[0].lengthen(o.Depth)
	case "pass":
		l.pass(o)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.told
	if err != nil {
		a.Err = err.Error()
	}
	l.told.Took, l.told.Renewing, l.told.Acquiring = nil, nil, nil
	return a
}

// note changes what is told.
func (l *load) note(change func(*answer)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.told)
}

// request is that of a run of its own.
func request(name string, ttl time.Duration, wait time.Duration) lock.Request {
	times := lock.TimesOf(ttl)
	return lock.Request{
		Name: name, Times: times, History: 50, Wait: lock.Wait{Limit: wait},
		Holder: lock.Holder{
			Run: lock.NewRunID(), Protocol: wire.Protocol, Host: fmt.Sprintf("host-%d", rand.IntN(1000)),
			PID:  os.Getpid(),
			User: "cron", Command: "job", Start: time.Now(), TTL: times.TTL, Every: times.Renew,
			Boot: "9f86d081884c7d65",
		},
	}
}

// together is how many acquire at once while the load grows.
const together = 16

// hold lets o.Count acquire a free lock each, and keeps those.
func (l *load) hold(o order) error {
	var asking sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	turns := make(chan struct{}, together)
	for i := range o.Count {
		turns <- struct{}{}
		asking.Go(func() {
			defer func() { <-turns }()
			if err := l.holdOne(fmt.Sprintf("job-%05d", o.First+i), o.TTL); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d: %w", len(failed), o.Count, failed[0])
	}
	return nil
}

func (l *load) holdOne(name string, ttl time.Duration) error {
	req, start := request(name, ttl, 0), time.Now()
	lease, err := l.store.Acquire(context.Background(), req)
	if err != nil {
		return err
	}
	l.note(func(a *answer) { a.Held++; a.Acquiring = append(a.Acquiring, since(start)) })
	go l.keep(lease, req.Times, nil)
	return nil
}

// keep renews a lease as the watchdog does, until pass says to end that, or it is lost.
func (l *load) keep(lease lock.Lease, t lock.Times, pass <-chan struct{}) (kept bool) {
	for {
		timer := time.NewTimer(t.Renew - rand.N(t.Renew/10+1))
		select {
		case <-pass:
			timer.Stop()
			return true
		case <-timer.C:
		}
		if err := l.renew(lease, t); err != nil {
			l.note(func(a *answer) { a.Lost++; a.Held-- })
			return false
		}
	}
}

func (l *load) renew(lease lock.Lease, t lock.Times) error {
	for {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), t.Try)
		_, err := lease.Renew(ctx)
		cancel()
		if err == nil {
			l.note(func(a *answer) { a.Renewals++; a.Renewing = append(a.Renewing, since(start)) })
			return nil
		}
		l.note(func(a *answer) { a.Failed++ })
		pause := rand.N(t.RetryDelay/2) + t.RetryDelay/2
		if left := time.Until(t.Term(lease.Until())); errors.Is(err, lock.ErrLost) || left <= pause {
			return err
		}
		time.Sleep(pause)
	}
}

func since(start time.Time) float64 { return float64(time.Since(start)) / float64(time.Millisecond) }

package quorum

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// What a run knows of itself.
type known struct {
	slot     string
	how      lock.How // as it was said; "": nothing was run
	died     bool     // without a word, or before it said one
	firm     bool     // those of a majority that nothing befalls have given it the lock
	recorded bool     // a majority has noted how
}

// A fleet is runs of one job that come and go at random, and what they know.
type fleet struct {
	t       *testing.T
	all     servers
	proxies []*redistest.Proxy
	store   lock.Store
	draw    func(int) int
	few     int // so many servers, the first, die or freeze at times; the others are a majority
	there   int // the first of those that are there

	mu    sync.Mutex
	asked int
	runs  map[string]*known
	late  []func() // reports of runs that were overtaken
}

func (f *fleet) note(run string, k *known) *known {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[run] = k
	return k
}

// run asks once, and if it gets the lock ends in one of several ways. It reports whether
// the slot is over.
func (f *fleet) run(slot string) (over bool) {
	req := forSlot(slot)
	req.History, req.Timeout = 1000, locktest.Patience // a busy machine takes its time to answer
	l, err := f.store.Acquire(f.t.Context(), req)
	f.mu.Lock()
	f.asked++
	f.mu.Unlock()
	if err != nil {
		if errors.As(err, new(*lock.DoneError)) || errors.As(err, new(*lock.TriesError)) {
			return true
		}
		if !errors.As(err, new(*lock.HeldError)) {
			f.t.Errorf("asked: %v", err)
		}
		return false
	}
	k := f.note(req.Holder.Run, &known{slot: slot, how: []lock.How{lock.Ok, lock.Ok, lock.Failed, lock.Timeout, ""}[f.draw(5)]})
	q := l.(*quorumLease)
	switch f.draw(8) {
	case 0:
		k.died = true
		dies(f.t, f.all[f.there:], l)
		k.firm = f.firm(q)
	case 1:
		q.stopWork()
		k.died, k.how, k.firm = true, lock.Lost, f.firm(q)
		f.all[f.there:].lapse(q)
		f.mu.Lock()
		f.late = append(f.late, func() { f.release(l, k) })
		f.mu.Unlock()
	default:
		f.release(l, k)
	}
	return false
}

func (f *fleet) firm(l *quorumLease) bool {
	for i := f.few; i < len(f.all); i++ {
		if _, counts := l.keyAt(i); !counts {
			return false
		}
	}
	return true
}

func (f *fleet) release(l lock.Lease, k *known) {
	err := l.Release(locktest.Limited(f.t, locktest.Patience), ending(k.how, 0))
	if k.recorded = err == nil || k.died && errors.Is(err, lock.ErrLost); !k.recorded {
		f.t.Errorf("released: %v", err)
	}
}

// suffer has a fault come and go: servers that are a minority die, freeze, or vote without
// being heard; replies to releases are lost anywhere.
func (f *fleet) suffer() (pass func()) {
	few := f.all[:f.few]
	fault := f.draw(8)
	if fault < 2 {
		f.there = f.few
	}
	switch fault {
	case 0:
		for _, s := range few {
			s.Kill()
		}
		return func() {
			for _, s := range few {
				locktest.Must(f.t, s.Restart(true))
			}
		}
	case 1:
		for _, s := range few {
			locktest.Must(f.t, s.Signal(syscall.SIGSTOP))
		}
		return func() {
			for _, s := range few {
				locktest.Must(f.t, s.Signal(syscall.SIGCONT))
			}
		}
	case 2, 3:
		f.proxies[f.draw(len(f.proxies))].LoseReply(inRelease)
	case 4:
		f.proxies[f.draw(f.few)].LoseReply(inGrant)
	}
	return func() {}
}

// tick has hosts ask for a slot, two at a time, until it is over.
func (f *fleet) tick(slot string) {
	for range 6 {
		pass := f.suffer()
		var over [2]bool
		var hosts sync.WaitGroup
		for i := range over {
			hosts.Go(func() { over[i] = f.run(slot) })
		}
		hosts.Wait()
		pass()
		f.there = 0
		for _, s := range f.all {
			locktest.Do(f.t, s, "DEL", jobKey) // of who died while the server was away
		}
		if f.draw(2) == 0 {
			for _, report := range f.late {
				report()
			}
			f.late = nil
		}
		if over[0] || over[1] {
			return
		}
	}
}

// check compares what the servers have entered with what the runs know.
func (f *fleet) check() {
	said := make(map[string]int) // how many servers say of a run how it ended
	for i, s := range f.all {
		counted := int64(0)
		for field, value := range jobOf(f.t, s) {
			var n int64
			if strings.HasPrefix(field, "count:") {
				fmt.Sscan(value, &n)
			}
			counted += n
		}
		once, ids := make(map[string]bool), make(map[string]bool)
		for _, e := range entries(f.t, s, "runs") {
			end := e.Run + " " + string(e.How)
			k := f.runs[e.Run]
			if k == nil || once[end] || e.How == lock.Vanished && !k.died || e.How != lock.Vanished && e.How != k.how {
				f.t.Errorf("server %d has %s, %+v", i, end, k)
			}
			once[end], ids[e.Run] = true, true
			said[end]++
		}
		if counted != int64(len(ids)) {
			f.t.Errorf("server %d counts %d ends of %d runs", i, counted, len(ids))
		}
	}
	successes, failures := make(map[string]int), make(map[string]int)
	for run, k := range f.runs {
		switch need := majority(len(f.all)); {
		case k.recorded && k.how != "" && said[run+" "+string(k.how)] < need:
			f.t.Errorf("%d servers know how %s ended: %+v", said[run+" "+string(k.how)], run, k)
		case k.firm && !k.recorded && said[run+" vanished"] < need:
			f.t.Errorf("%d servers know that %s has vanished", said[run+" vanished"], run)
		}
		if k.how == lock.Ok && !k.died {
			successes[k.slot]++
		} else if k.firm || !k.died && k.how != "" {
			failures[k.slot]++
		}
	}
	for slot, n := range failures {
		if n > 2 {
			f.t.Errorf("%d runs of %s have failed", n, slot)
		}
	}
	for slot, n := range successes {
		if n > 1 {
			f.t.Errorf("%d runs of %s have succeeded", n, slot)
		}
	}
	f.t.Logf("%d questions, %d runs, %d ticks done", f.asked, len(f.runs), len(successes))
}

func TestTheLedgersOfAQuorumSayWhatTheRunsKnow(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := &fleet{t: t, draw: locktest.Draw(t), runs: make(map[string]*known)}
			f.all, f.proxies, f.store = startBehindProxies(t, n)
			f.few = n - majority(n)
			for i := range 60 / n {
				f.tick(fmt.Sprint("tick ", i))
			}
			for _, report := range f.late {
				report()
			}
			last := forSlot("the last")
			last.History = 1000
			f.note(last.Holder.Run, &known{slot: "the last", how: lock.Ok, recorded: true})
			locktest.Must(t, acquireWhole(t, f.store, last).Release(locktest.Limited(t, locktest.Patience), ending(lock.Ok, 0)))
			f.check()
			if s := slices.IndexFunc(f.all, func(s *redistest.Server) bool { return jobOf(t, s)["open"] != "" }); s >= 0 {
				t.Errorf("server %d has a run open", s)
			}
		})
	}
}

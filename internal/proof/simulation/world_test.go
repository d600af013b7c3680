// Package simulation lets the clients of redlockrun, as they are, meet servers that are
// modelled, in virtual time: what is drawn by a seed happens again by the same seed.
package simulation

import (
	"container/heap"
	"fmt"
	"sync"
	"testing/synctest"
	"time"
)

// A world is the clients, the servers and the network of one seed, in a bubble of
// testing/synctest. It makes one thing happen at a time, and waits until all that follows
// from it at that instant has come to rest.
type world struct {
	*plan
	began   time.Time
	history history
	servers []*machine
	clients []*client
	referee *referee
	last    *client // who looks when all are gone; nil: nobody does

	mu     sync.Mutex
	events events
	woken  chan struct{} // holds a token when something has been scheduled or noted
}

// An event is what happens at one instant.
type event struct {
	at time.Time
	do func()
}

// lanes is how many instants follow each other until one lane has its turn again, in ns. Each
// channel, each fault has a lane to itself, so that no two events share an instant.
const lanes = 1 << 16

// in is the first instant of a lane that is not before t.
func (w *world) in(lane int, t time.Time) time.Time {
	since := max(t.Sub(w.began), 0)
	return t.Add(max(w.began.Sub(t), 0)).Add((time.Duration(lane) - since%lanes + lanes) % lanes)
}

// schedule has something happen at an instant of the lane that is its own.
func (w *world) schedule(at time.Time, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	heap.Push(&w.events, event{at, do})
	w.wake()
}

// wake has the world look at what it has to do.
func (w *world) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// run makes things happen until all clients are gone.
func (w *world) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		synctest.Wait()
		w.referee.collect()
		if w.gone() {
			return
		}
		timer.Reset(time.Until(w.next()))
		select {
		case <-w.woken:
		case <-timer.C:
			synctest.Wait() // who wakes up at this very instant goes first
			w.referee.collect()
			w.step()
		}
	}
}

// gone reports whether no client is there any more.
func (w *world) gone() bool {
	for _, c := range w.clients {
		if !c.gone {
			return false
		}
	}
	return true
}

// forgetful is longer than any wait of a client.
const forgetful = 24 * time.Hour

// next is the instant of the next event.
func (w *world) next() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == 0 {
		return time.Now().Add(forgetful)
	}
	return w.events[0].at
}

// step makes the next thing happen, if its instant has come.
func (w *world) step() {
	w.mu.Lock()
	if len(w.events) == 0 {
		w.mu.Unlock()
		panic("nothing happens any more, and clients still wait")
	}
	var e event
	if due := !w.events[0].at.After(time.Now()); due {
		e = heap.Pop(&w.events).(event)
	}
	w.mu.Unlock()
	if e.do != nil {
		w.history.events++
		e.do()
	}
}

// note enters something into the history.
func (w *world) note(format string, args ...any) {
	w.history.note(time.Since(w.began), fmt.Sprintf(format, args...))
}

// events are ordered by their instants.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

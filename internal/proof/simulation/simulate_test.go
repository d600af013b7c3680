package simulation

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/boottime"
)

// A verdict is what has come of one seed.
type verdict struct {
	seed    uint64
	choice  choice
	digest  string
	events  int
	steps   int
	lasted  time.Duration // in the world
	wrong   []string
	history string
}

// simulate makes the world of a seed happen, with all of its history or the end of it.
func simulate(t *testing.T, seed uint64, c choice, all bool) (v verdict) {
	v.choice = c
	v.simulate(t, seed, func() *plan { return c.apply(planOf(seed)) }, all)
	return v
}

// simulatePlan makes the world of a plan happen, with all of its history.
func simulatePlan(t *testing.T, seed uint64, p *plan) (v verdict) {
	v.simulate(t, seed, func() *plan { return p }, true)
	return v
}

func (v *verdict) simulate(t *testing.T, seed uint64, of func() *plan, all bool) {
	v.seed = seed
	v.bubble(t, func() {
		w := newWorld(of(), all)
		w.begin()
		w.run()
		w.lookLast()
		v.lasted = time.Since(w.began)
		w.referee.close()
		v.digest, v.events, v.steps = w.history.digest(), w.history.events, w.history.steps
		v.wrong, v.history = w.referee.wrong, w.history.String()
	})
}

// bubble has time be made while do runs. A goroutine that do leaves behind is a breach.
func (v *verdict) bubble(t *testing.T, do func()) {
	defer func() {
		if r := recover(); r != nil { // a bubble that cannot end
			v.wrong = append(v.wrong, fmt.Sprint("panic: ", r))
		}
	}()
	synctest.Test(t, func(*testing.T) { do() })
}

func newWorld(p *plan, all bool) *world {
	w := &world{plan: p, began: time.Now(), history: newHistory(all), woken: make(chan struct{}, 1)}
	w.referee = newReferee(w)
	for n, rate := range p.rates {
		w.servers = append(w.servers, w.newMachine(n, rate))
	}
	for n, host := range p.hosts {
		name := fmt.Sprint("c", n)
		w.clients = append(w.clients, &client{
			clientPlan: host, number: n, world: w, clock: new(boottime.Clock), draw: drawOf(p.seed, name),
			chance: streamOf(p.seed, "%s runs", name), network: host.network,
		})
	}
	w.addDesk()
	return w
}

// begin has the clients come.
func (w *world) begin() {
	w.injectFaults()
	w.eavesdrop()
	w.schedule(w.in(refereeLane-1, w.began.Add(w.end())), w.giveUp)
	for _, c := range w.clients {
		go c.live()
	}
}

// giveUp ends a world in which somebody still waits when all should be long over.
func (w *world) giveUp() {
	for _, c := range w.clients {
		if !c.gone {
			w.referee.breach("end: c%d runs or waits for ever", c.number)
			c.ticks = nil
			if p := c.process; p != nil && !p.dead && !p.over {
				p.crash(true)
			}
		}
	}
}

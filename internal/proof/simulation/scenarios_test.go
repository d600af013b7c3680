package simulation

import (
	"fmt"
	"slices"
	"time"

	"redlockrun/internal/lock"
)

// addScenarios adds what a plan's first draws make rare. Each scenario has a stream of its own, so
// worlds without it stay as they are.
func (p *plan) addScenarios(span time.Duration) {
	p.crowd(streamOf(p.seed, "crowd"))
	p.desertion(streamOf(p.seed, "desertion"))
	p.misfortune(streamOf(p.seed, "misfortune"), span)
	if p.machines > 1 {
		p.partings(streamOf(p.seed, "partings"), span)
		p.siege(streamOf(p.seed, "siege"), span)
		p.mire(streamOf(p.seed, "mire"), span)
		p.rush(streamOf(p.seed, "rush"), span)
	} else {
		p.rests(streamOf(p.seed, "rests"), span)
		p.meagre(streamOf(p.seed, "meagre"), span)
	}
	p.byHand(streamOf(p.seed, "hands"))
	p.nightly(streamOf(p.seed, "slots"), span)
}

// crowd has several come at once, and then somebody, or everybody, fall silent for longer than the line waits for a
// look.
func (p *plan) crowd(s stream) {
	if !s.chance(0.15) {
		return
	}
	first := len(p.hosts)
	at := p.gather(s)
	for range 1 + s.IntN(2) {
		f := fault{at: at + s.between(2*time.Second, 10*time.Second), length: s.between(12*time.Second, 30*time.Second)}
		f.kind = pick(s, "freeze client", "host dies", "crash", "restart", "freeze server", "holder dies")
		if f.kind == "freeze client" || f.kind == "host dies" || f.kind == "crash" {
			f.on = first + s.IntN(len(p.hosts)-first)
		}
		p.faults = append(p.faults, f)
	}
}

// desertion has the first three in line give up, while the holder dies and the fourth waits on.
func (p *plan) desertion(s stream) {
	if !s.chance(0.05) {
		return
	}
	at, holder := warm+s.between(0, 20*time.Second), len(p.hosts)
	for n := range 5 {
		t := tick{wait: 10 * time.Minute, runs: time.Second, how: lock.EndOk}
		t.at = at + time.Duration(n)*s.between(5*time.Millisecond, 100*time.Millisecond)
		switch {
		case n == 0:
			t.wait, t.runs = 0, time.Minute
		case n < 4:
			t.wait = s.between(1500*time.Millisecond, 3*time.Second)
		}
		p.hosts = append(p.hosts, &clientPlan{ticks: []tick{t},
			network: networkProfile{way: s.spread(50*time.Microsecond, time.Millisecond)}})
	}
	p.faults = append(p.faults, fault{kind: "crash", at: at + s.between(3300*time.Millisecond, 4800*time.Millisecond),
		on: holder})
}

// gather has several come at once for a lock that is held long, and says when.
func (p *plan) gather(s stream) (at time.Duration) {
	at = warm + s.between(0, 20*time.Second)
	slot := pick(s, "", "crowd")
	for n := range 4 + s.IntN(3) {
		t := tick{
			at: at + time.Duration(n)*s.between(5*time.Millisecond, 300*time.Millisecond), wait: 10 * time.Minute,
			runs: s.between(50*time.Millisecond, 3*time.Second), how: pick(s, lock.EndOk, lock.EndFailed), slot: slot,
		}
		if n > 0 && s.chance(0.3) {
			t.wait = s.between(500*time.Millisecond, 10*time.Second)
		}
		if n == 0 {
			t.runs = s.between(time.Second, 40*time.Second)
		}
		p.hosts = append(p.hosts, &clientPlan{ticks: []tick{t},
			network: networkProfile{way: s.spread(50*time.Microsecond, time.Millisecond)}})
	}
	return at
}

// misfortune has whoever holds the lock die.
func (p *plan) misfortune(s stream, span time.Duration) {
	if s.chance(0.8) {
		return
	}
	for range 1 + s.IntN(4) {
		p.faults = append(p.faults, fault{kind: pick(s, "holder crashes", "holder dies"),
			at: warm + s.between(0, span)})
	}
}

// dies has the host that runs the command die, or redlockrun alone.
func (w *world) dies(f fault) {
	if running := w.referee.running; len(running) > 0 {
		kind := map[string]string{"holder crashes": "crash", "holder dies": "host dies"}[f.kind]
		running[0].client.suffer(fault{kind: kind})
	}
}

// partings cut a client off from one master, while others reach it.
func (p *plan) partings(s stream, span time.Duration) {
	if !s.chance(0.5) {
		return
	}
	for range 1 + s.IntN(4) {
		p.faults = append(p.faults, fault{
			kind: "part", at: warm + s.between(0, span), length: s.spread(50*time.Millisecond, 30*time.Second),
			on: s.IntN(len(p.hosts)), of: s.IntN(p.machines),
		})
	}
}

// mire has several ask the masters at one instant, again and again, whose messages are often overtaken.
func (p *plan) mire(s stream, span time.Duration) {
	if !s.chance(0.25) {
		return
	}
	at := warm + s.between(0, span)
	for range 2 + s.IntN(2) {
		c := &clientPlan{network: networkProfile{way: s.spread(50*time.Microsecond, time.Millisecond), slow: 0.2,
			lose: 0.02, stall: 0.02}}
		for n := range 3 {
			t := tick{at: at + time.Duration(n)*10*time.Second, runs: s.between(p.times.Try, p.times.TTL),
				how: lock.EndOk}
			t.wait = s.between(0, 20*time.Second)
			c.ticks = append(c.ticks, t)
		}
		p.hosts = append(p.hosts, c)
	}
}

// siege has one get the lock by a majority which a master that forgets is of, and another ask for it then.
func (p *plan) siege(s stream, span time.Duration) {
	forgets := slices.ContainsFunc(p.faults, func(f fault) bool { return f.kind == "forget" })
	if !s.chance(0.3) || forgets || p.durable {
		return
	}
	at, holder := warm+s.between(0, span), len(p.hosts)
	away := s.IntN(p.machines)
	for n := range 2 {
		t := tick{at: at, runs: s.between(p.times.TTL, 3*p.times.TTL), how: lock.EndOk, wait: s.between(0, time.Minute)}
		if n == 1 {
			t.at += s.between(20*time.Millisecond, p.times.Renew)
		}
		p.hosts = append(p.hosts, &clientPlan{ticks: []tick{t},
			network: networkProfile{way: s.spread(50*time.Microsecond, time.Millisecond)}})
	}
	for n := range (p.machines - 1) / 2 {
		p.faults = append(p.faults,
			fault{kind: "part", at: at - time.Millisecond, length: s.between(time.Second, 20*time.Second), on: holder,
				of: (away + n) % p.machines},
			fault{kind: "forget", at: at + s.between(5*time.Millisecond, p.times.Renew),
				length: s.spread(time.Millisecond, time.Second),
				on:     (away + p.machines/2 + n) % p.machines})
	}
}

// eavesdrop has somebody listen to all messages of a server (redis-cli PSUBSCRIBE '*').
func (w *world) eavesdrop() {
	if !streamOf(w.seed, "ears").chance(0.2) {
		return
	}
	for _, m := range w.servers {
		ear := m.server.Connect(func([]byte) {})
		ear.Feed([]byte("*2\r\n$10\r\nPSUBSCRIBE\r\n$1\r\n*\r\n"))
	}
}

// byHand is what somebody does to the lock's key with redis-cli: more than the contract allows for.
func (p *plan) byHand(s stream) {
	if !s.chance(0.08) {
		return
	}
	p.outside = true
	first := len(p.hosts)
	at := p.gather(s)
	within := max(10*time.Second, p.times.TTL)
	p.hosts[first].ticks[0].runs = s.between(time.Second, 2*within)
	if p.machines == 1 && s.chance(0.2) {
		p.faults = append(p.faults, fault{kind: "newer", at: at + s.between(0, 10*time.Second)})
	}
	for range 1 + s.IntN(4) {
		p.faults = append(p.faults, fault{
			kind: pick(s, "delete", "delete", "seize"), at: at + s.between(0, within), on: s.IntN(p.machines),
			length: s.spread(time.Second, within),
		})
	}
}

// nightly has two come, one after the other, for more slots than are kept.
func (p *plan) nightly(s stream, span time.Duration) {
	if !s.chance(0.04) {
		return
	}
	at, apart := warm+s.between(0, span), s.between(500*time.Millisecond, time.Second)
	hosts := []*clientPlan{{network: networkProfile{way: 100 * time.Microsecond}},
		{network: networkProfile{way: 100 * time.Microsecond}}}
	for n := range mostSlots + 4 {
		for i, c := range hosts {
			c.ticks = append(c.ticks, tick{
				at:   at + time.Duration(n)*apart + time.Duration(i)*apart/2,
				runs: s.spread(time.Millisecond, 100*time.Millisecond), how: lock.EndOk,
				slot: fmt.Sprint("night ", n),
			})
		}
	}
	p.hosts = append(p.hosts, hosts...)
}

// rush has several ask the masters at one instant, and end their slots at once: while what they have ordered is under
// way.
func (p *plan) rush(s stream, span time.Duration) {
	if !s.chance(0.1) {
		return
	}
	at := afterwards(s, span)
	for range 2 + s.IntN(2) {
		c := &clientPlan{plain: true, network: networkProfile{way: s.spread(50*time.Microsecond, time.Millisecond),
			slow: 0.2, stall: 0.02}}
		for n := range 4 {
			t := tick{at: at + time.Duration(n)*10*time.Second, runs: s.spread(time.Millisecond, 20*time.Millisecond)}
			t.how, t.wait = pick(s, lock.EndOk, lock.EndFailed), s.between(0, 5*time.Second)
			t.slot = fmt.Sprintf("rush %d of %d", n, len(p.hosts))
			c.ticks = append(c.ticks, t)
		}
		p.hosts = append(p.hosts, c)
	}
}

// afterwards is when most of what else is to happen is over.
func afterwards(s stream, span time.Duration) time.Duration {
	return warm + 2*span + s.between(20*time.Second, 40*time.Second)
}

// rests has one leave the lock to rest again and again, at a server that has no room by then and whose replies are
// often lost.
func (p *plan) rests(s stream, span time.Duration) {
	if !s.chance(0.05) {
		return
	}
	at := afterwards(s, span)
	c := &clientPlan{plain: true, network: networkProfile{way: s.spread(50*time.Microsecond, time.Millisecond),
		lose: 0.3}}
	for n := range 6 {
		t := tick{at: at + time.Duration(n)*20*time.Second, runs: s.between(100*time.Millisecond, time.Second),
			how: lock.EndOk}
		t.minHold = t.runs + s.between(time.Second, 5*time.Second)
		c.ticks = append(c.ticks, t)
		p.faults = append(p.faults, fault{kind: "no memory", at: t.at + s.between(10*time.Millisecond, t.runs),
			length: 10 * time.Second})
	}
	p.hosts = append(p.hosts, c)
}

// meagre has one come again and again while the server lets nobody shorten a list.
func (p *plan) meagre(s stream, span time.Duration) {
	if !s.chance(0.04) {
		return
	}
	at, apart := afterwards(s, span), s.between(500*time.Millisecond, time.Second)
	c := &clientPlan{plain: true, network: networkProfile{way: 100 * time.Microsecond}}
	for n := range 10 {
		t := tick{at: at + time.Duration(n)*apart, runs: s.spread(time.Millisecond, 100*time.Millisecond)}
		t.how = pick(s, lock.EndOk, lock.EndFailed)
		c.ticks = append(c.ticks, t)
	}
	p.hosts = append(p.hosts, c)
	p.faults = append(p.faults, fault{kind: "no trims", at: at - time.Millisecond, length: 10 * apart})
}

// stranger is what another program than redlockrun writes into the lock.
const stranger = "somebody else"

// tamper has somebody delete the lock's key of a server, take it with another program, or use it with a newer
// redlockrun.
func (w *world) tamper(f fault) {
	m, keys := w.servers[f.on], w.referee.keys
	w.referee.expires = time.Now().Add(forgetful) // those in line know of the lease that was there
	switch {
	case m.down:
	case f.kind == "delete":
		do(m.server, "DEL", keys.Lock)
	case f.kind == "seize":
		m.server.Do("SET", keys.Lock, stranger, "PX", f.length.Milliseconds()+1) // refused if it has no memory
	default:
		_, err := m.server.Do("SET", keys.Fence, "9000 p2", "PX", (24 * time.Hour).Milliseconds())
		w.referee.newer = w.referee.newer || err == nil
	}
}

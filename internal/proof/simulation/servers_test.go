package simulation

import (
	"slices"
	"time"
)

// troubles are further faults of the servers of some worlds. What they draw changes nothing of the rest.
func (p *plan) troubles(span time.Duration) {
	s := streamOf(p.seed, "troubles")
	if !s.chance(0.5) {
		return
	}
	kinds := []string{"no memory", "no memory", "no rights", "no counts", "no scripts"}
	if p.outside {
		kinds = append(kinds, "clock stands", "clock is set", "clock is set")
	}
	for range 1 + s.IntN(4) {
		f := fault{kind: pick(s, kinds...), at: warm + s.between(0, span),
			length: s.spread(20*time.Millisecond, 20*time.Second)}
		if f.on = s.IntN(p.machines); f.kind == "clock is set" {
			f.length = s.between(-5*time.Second, 5*time.Second)
		}
		p.faults = append(p.faults, f)
	}
}

// witness are the commands that the ledger alone sends.
var witness = []string{"hincrby", "lindex", "lpush", "ltrim", "zremrangebyscore"}

// trouble has a server suffer; done reports that it was one of those.
func (w *world) trouble(n int, f fault) (done bool) {
	m := w.servers[f.on%len(w.servers)]
	switch f.kind {
	case "no memory":
		m.server.Fill(true)
		w.later(n, f, func() { m.server.Fill(false) })
	case "no rights":
		m.server.Deny(witness...)
		w.later(n, f, func() { m.server.Deny() })
	case "no counts":
		m.server.Deny(witness[0])
		w.later(n, f, func() { m.server.Deny() })
	case "no trims":
		m.server.Deny("ltrim")
		w.later(n, f, func() { m.server.Deny() })
	case "no scripts":
		do(m.server, "SCRIPT", "FLUSH")
	case "clock is set":
		m.set(f.length)
	case "clock stands":
		m.stop()
		w.later(n, f, m.goOn)
	default:
		return false
	}
	return true
}

// A face is what a machine's clock shows beside the time that passes.
type face struct {
	offset time.Duration
	stands time.Time // where it stands; zero: it goes
	wrong  bool      // it was set, or has stood
}

func (m *machine) set(by time.Duration) {
	m.wrong = true
	if m.offset += by; !m.stands.IsZero() {
		m.stands = m.stands.Add(by)
	}
}

func (m *machine) stop() {
	if m.wrong = true; m.stands.IsZero() {
		m.stands = m.clock()
	}
}

func (m *machine) goOn() {
	if stood := m.stands; !stood.IsZero() {
		m.stands = time.Time{}
		m.offset += stood.Sub(m.clock())
	}
}

// mended has a machine be as it should.
func (m *machine) mended() {
	m.goOn()
	m.server.Fill(false)
	m.server.Deny()
}

// wrongClocks reports whether a server's clock has not gone on as clocks do.
func (w *world) wrongClocks() bool {
	return slices.ContainsFunc(w.servers, func(m *machine) bool { return m.wrong })
}

package simulation

import "time"

// injectFaults makes the faults of the plan happen when they are due.
func (w *world) injectFaults() {
	for n, f := range w.faults {
		if f.kind != "" {
			w.schedule(w.in(n, w.began.Add(f.at)), func() { w.fault(n, f) })
		}
	}
}

// later has something happen after the length of the n-th fault.
func (w *world) later(n int, f fault, do func()) { w.schedule(w.in(n, time.Now().Add(f.length)), do) }

func (w *world) fault(n int, f fault) {
	w.note("fault: %s", f)
	if w.trouble(n, f) {
		return
	}
	switch f.kind {
	case "freeze server":
		w.servers[f.on].freeze(f.length)
		w.disturb(f.length > time.Second)
	case "cut all":
		w.servers[f.on].cutAll()
		w.disturb(true)
	case "restart", "forget":
		w.restart(n, f)
		w.disturb(true)
	case "delete", "seize", "newer":
		w.tamper(f)
	case "holder crashes", "holder dies":
		w.dies(f)
	default:
		w.clients[f.on].suffer(f)
	}
}

// restart has a server die, and come back, with its data or without.
func (w *world) restart(n int, f fault) {
	m := w.servers[f.on]
	if m.down {
		return
	}
	m.kill()
	w.later(n, f, func() { m.start(f.kind == "restart") })
}

// disturb notes that a fault has met all clients.
func (w *world) disturb(really bool) {
	for _, c := range w.clients {
		if p := c.process; p != nil && really {
			p.disturbed = true
		}
	}
}

func (c *client) suffer(f fault) {
	p := c.process
	switch {
	case f.kind == "freeze client":
		c.still = time.Now().Add(f.length)
	case f.kind == "part":
		c.apart[f.of] = time.Now().Add(f.length)
	case p == nil || p.dead || p.over:
		return
	case f.kind == "cut client":
		for _, x := range p.inOrder() {
			if x.far != nil {
				x.cut()
			}
		}
	default:
		p.crash(f.kind == "host dies")
	}
	if p != nil {
		p.disturbed = true
	}
}

package simulation

import (
	"syscall"
	"time"

	"redlockrun/internal/proof/simulation/server"
)

// A machine is one server and what it runs on.
type machine struct {
	number int
	world  *world
	server *server.Server
	rate   float64   // how fast its clock goes
	still  time.Time // it is frozen until then
	down   bool
	lost   bool // it has lost its data at some time
	wires  []*wire
	face
}

// base is what the servers' clocks show in the beginning.
var base = time.UnixMilli(1_763_790_000_000)

func (w *world) newMachine(number int, rate float64) *machine {
	m := &machine{number: number, world: w, rate: rate}
	m.server = server.New(m.clock)
	return m
}

// clock is the machine's, which goes a little too fast or too slow.
func (m *machine) clock() time.Time {
	if !m.stands.IsZero() {
		return m.stands
	}
	return base.Add(m.offset + time.Duration(float64(time.Since(m.world.began))*m.rate))
}

// accept is what a machine answers to who wants to connect.
func (m *machine) accept(x *wire) error {
	if m.down {
		return syscall.ECONNREFUSED
	}
	x.far = m.server.Connect(x.reply)
	m.wires = append(m.wires, x)
	return nil
}

// kill ends the server, and all its connections.
func (m *machine) kill() {
	m.world.note("s%d dies", m.number)
	m.down = true
	m.cutAll()
}

func (m *machine) cutAll() {
	for _, x := range m.wires {
		if x.far != nil {
			x.cut()
		}
	}
	m.wires = nil
}

// start begins the server anew.
func (m *machine) start(keep bool) {
	m.world.note("s%d starts, data kept: %v", m.number, keep)
	m.server.Restart(keep)
	m.down = false
	m.lost = m.lost || !keep
	m.world.referee.newer = m.world.referee.newer && keep
}

// wasPolling reports whether the machine stands still, or did so within the last second: what was
// to be done meanwhile need not be done yet.
func (m *machine) wasPolling() bool { return time.Now().Before(m.still.Add(time.Second)) }

// freeze has the machine stand still.
func (m *machine) freeze(d time.Duration) {
	m.world.note("s%d freezes for %v", m.number, d)
	m.still = time.Now().Add(d)
}

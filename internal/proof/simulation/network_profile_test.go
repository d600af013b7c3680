package simulation

import "time"

// A networkProfile says how often the messages of one client are late or lost, in either direction.
type networkProfile struct {
	way   time.Duration // the least time that a message takes
	slow  float64       // how many of them take long
	cut   float64       // how many end the connection in place of arriving
	lose  float64       // how many arrive, and end the connection
	stall float64       // how many have the connection stand still
}

// A fate is what becomes of one message.
type fate int

const (
	arrives  fate = iota
	cuts          // the connection ends before it arrives
	isLast        // it arrives, and the connection ends: of a request, the reply is lost
	stalls        // the connection stands still for a while before it arrives
	vanishes      // it stands still for ever, and nobody is told
)

func (f fate) String() string {
	return [...]string{"", "(cut)", "(last)", "(stalled)", "(vanishes)"}[f]
}

// of draws the fate of a message, and how long it takes.
func (w *networkProfile) of(c *channel) (f fate, delay time.Duration) {
	roll, slow, part := c.draw.Float64(), c.draw.chance(w.slow), c.draw.Float64()
	delay = w.way + time.Duration(part*float64(w.way))
	if slow {
		delay += c.draw.spread(5*time.Millisecond, 2*time.Second)
	}
	switch {
	case roll < w.cut:
		f = cuts
	case roll < w.cut+w.lose:
		f = isLast
	case roll < w.cut+w.lose+w.stall*0.8:
		f = stalls
	case roll < w.cut+w.lose+w.stall:
		f = vanishes
	}
	if slow || f != arrives {
		c.wire.process.disturbed = true
	}
	return f, delay
}

// suffer delivers a message as its fate says.
func (c *channel) suffer(m message) {
	x := c.wire
	switch m.fate {
	case cuts:
		x.cut()
	case isLast:
		m.do()
		x.cut()
	case stalls:
		x.stop(time.Now().Add(c.draw.spread(20*time.Millisecond, 20*time.Second)))
		c.resend(m)
	case vanishes:
		x.stop(x.world.began.Add(never))
	default:
		m.do()
	}
}

// resend has a message that was to arrive now arrive when its channel moves again, before the others.
func (c *channel) resend(m message) {
	m.fate = arrives
	c.under = append([]message{m}, c.under...)
	c.last = c.wire.world.in(c.lane, latest(c.still, c.last.Add(1)))
	c.wire.world.schedule(c.last, c.arrive)
}

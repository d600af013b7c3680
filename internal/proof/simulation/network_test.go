package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"redlockrun/internal/proof/simulation/server"
)

// A wire is one connection of a process to a machine. TCP loses no part of what is sent: what
// can happen to it is that it takes its time, stands still, or ends.
type wire struct {
	name     string
	world    *world
	process  *process
	machine  *machine
	near     *conn        // the client's end
	far      *server.Conn // the server's end; nil: not yet, or not any more
	up, down channel
	answered chan error // of the dial
	asked    []byte     // of the step that the machine has made last
	said     []byte     // what it has answered
}

// A channel is one direction of a wire. What it is given arrives in the same order.
type channel struct {
	wire  *wire
	lane  int
	draw  stream
	under []message // under way
	last  time.Time // when the last of them arrives
	still time.Time // it stands still until then
}

// never is when what stands still for good goes on.
const never = 100 * 365 * 24 * time.Hour

// Lanes: the first are for the faults of a plan.
const (
	wiresOfPair = 128 // as many can wait at once for a host that is parted from a machine
	faultLanes  = 256
	mostServers = 5
	mostClients = (lanes - faultLanes) / (2 * wiresOfPair * mostServers)
)

// dial is the lock.Dialer of a process.
func (p *process) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if p.dead || ctx.Err() != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETDOWN}
	}
	m := p.client.world.machineAt(addr)
	x := p.wire(m)
	x.up.send("SYN", func() { x.down.send("SYN-ACK", x.connected(m.accept(x))) })
	select {
	case err := <-x.answered:
		if err != nil {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}
		return x.near, nil
	case <-ctx.Done():
		x.near.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.Cause(ctx)}
	}
}

func (w *world) machineAt(addr string) *machine {
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(addr, "s"), ":6379"))
	return w.servers[n]
}

// wire is the next connection to a machine.
func (p *process) wire(m *machine) *wire {
	p.client.world.mu.Lock()
	defer p.client.world.mu.Unlock()
	c := p.client
	n := c.wires[m.number]
	c.wires[m.number]++
	x := &wire{
		name: fmt.Sprintf("c%d>s%d#%d", c.number, m.number, n), world: c.world, process: p, machine: m,
		answered: make(chan error, 1),
	}
	lane := faultLanes + 2*((c.number*mostServers+m.number)*wiresOfPair+n%wiresOfPair)
	x.up = channel{wire: x, lane: lane, draw: streamOf(c.world.seed, "%s up", x.name)}
	x.down = channel{wire: x, lane: lane + 1, draw: streamOf(c.world.seed, "%s down", x.name)}
	x.near = &conn{wire: x, woken: make(chan struct{})}
	p.wires, c.all = append(p.wires, x), append(c.all, x)
	return x
}

// connected is what becomes of the client's end when the server has answered.
func (x *wire) connected(refused error) func() { return func() { x.answered <- refused } }

// A message is what a channel carries: what it is called, and what it does where it arrives.
type message struct {
	what string
	do   func()
	fate fate
}

// send has something arrive at the other end.
func (c *channel) send(what string, do func()) {
	x := c.wire
	w := x.world
	w.mu.Lock()
	fate, delay := x.process.client.network.of(c)
	c.under = append(c.under, message{what, do, fate})
	c.last = w.in(c.lane, latest(time.Now().Add(delay), c.still, x.stillUntil(), c.last.Add(1)))
	at := c.last
	w.mu.Unlock()
	w.schedule(at, c.arrive)
}

// arrive lets the next message arrive, unless it has to wait on.
func (c *channel) arrive() {
	x := c.wire
	until := latest(c.still, x.stillUntil())
	if until.Sub(x.world.began) >= never/2 {
		return
	}
	if until.After(time.Now()) {
		c.last = x.world.in(c.lane, latest(until, c.last.Add(1)))
		x.world.schedule(c.last, c.arrive)
		return
	}
	m := c.under[0]
	c.under = c.under[1:]
	x.world.note("%s %s %s", c, m.what, m.fate)
	c.suffer(m)
}

func (c *channel) String() string {
	if c == &c.wire.up {
		return c.wire.name + " up"
	}
	return c.wire.name + " down"
}

// stillUntil is until when nothing of a wire moves: its host is cut off, or from that server alone, or the server
// frozen.
func (x *wire) stillUntil() time.Time {
	c := x.process.client
	return latest(c.still, c.apart[x.machine.number], x.machine.still)
}

// request takes what the client has written to the server.
func (x *wire) request(b []byte) {
	x.up.send(sizeOf(b), func() {
		if x.far == nil {
			return
		}
		x.world.referee.before(x)
		reply := x.far.Feed(b)
		x.asked, x.said = b, reply
		x.world.history.steps++
		x.world.referee.after(x)
		if len(reply) > 0 {
			x.reply(reply)
		}
		if x.far != nil && x.far.Closed() {
			x.hangUp()
		}
	})
}

// reply takes what the server has written to the client.
func (x *wire) reply(b []byte) { x.down.send(sizeOf(b), func() { x.near.receive(b) }) }

// hangUp is the server's end of the connection.
func (x *wire) hangUp() {
	x.far = nil
	x.down.send("FIN", func() { x.near.fail(errEnd) })
}

// cut ends the connection at both ends, at once: what is under way is lost.
func (x *wire) cut() {
	x.world.note("%s cut", x.name)
	if x.far != nil {
		x.far.Close()
		x.far = nil
	}
	x.world.mu.Lock() // whom the last message has woken may write
	x.up.still, x.down.still = x.world.began.Add(never), x.world.began.Add(never)
	x.world.mu.Unlock()
	x.near.fail(syscall.ECONNRESET)
	select {
	case x.answered <- syscall.ECONNRESET:
	default:
	}
}

// stop has nothing arrive any more, and nobody told.
func (x *wire) stop(until time.Time) { x.up.still, x.down.still = until, until }

var errEnd = errors.New("EOF")

// castagnoli is the polynomial that processors compute: a request is mostly 10 KB of script.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sizeOf tells messages apart.
func sizeOf(b []byte) string {
	return fmt.Sprintf("%d bytes %x", len(b), crc32.Checksum(b, castagnoli))
}

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}

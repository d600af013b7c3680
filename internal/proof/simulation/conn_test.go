package simulation

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// A conn is the client's end of a wire.
type conn struct {
	wire *wire

	// All of this is the world's mu's.
	in          []byte
	err         error // what reads come to when in is empty, and writes
	closed      bool
	read, write time.Time // the deadlines; zero: none
	woken       chan struct{}
}

// rouse has those who read look again.
func (c *conn) rouse() {
	close(c.woken)
	c.woken = make(chan struct{})
}

func (c *conn) receive(b []byte) {
	c.wire.world.mu.Lock()
	defer c.wire.world.mu.Unlock()
	if !c.closed {
		c.in = append(c.in, b...)
		c.rouse()
	}
}

// fail ends the connection, from outside.
func (c *conn) fail(err error) {
	c.wire.world.mu.Lock()
	defer c.wire.world.mu.Unlock()
	if c.err == nil {
		c.err = err
		c.rouse()
	}
}

func (c *conn) Read(b []byte) (int, error) {
	w := c.wire.world
	for {
		w.mu.Lock()
		n, err, ready := c.take(b)
		woken, deadline := c.woken, c.read
		w.mu.Unlock()
		if ready {
			return n, err
		}
		await(woken, deadline)
	}
}

// take reads what is there.
func (c *conn) take(b []byte) (n int, err error, ready bool) {
	switch {
	case c.closed:
		return 0, net.ErrClosed, true
	case expired(c.read):
		return 0, os.ErrDeadlineExceeded, true
	case len(c.in) > 0:
		n = copy(b, c.in)
		c.in = c.in[n:]
		return n, nil, true
	case c.err == errEnd:
		return 0, io.EOF, true
	case c.err != nil:
		return 0, c.err, true
	}
	return 0, nil, false
}

// behind is how long after its instant a deadline ends a read: that of the context which it was
// taken from has ended by then, whichever timer was first.
const behind = 5 * time.Nanosecond

func expired(deadline time.Time) bool {
	return !deadline.IsZero() && !deadline.Add(behind).After(time.Now())
}

// await returns when woken is closed, or the deadline has come.
func await(woken <-chan struct{}, deadline time.Time) {
	if deadline.IsZero() {
		<-woken
		return
	}
	timer := time.NewTimer(time.Until(deadline.Add(behind)))
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	}
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.writable(); err != nil {
		return 0, err
	}
	if !c.wire.process.dead {
		c.wire.request(append([]byte(nil), b...))
	}
	return len(b), nil
}

func (c *conn) writable() error {
	c.wire.world.mu.Lock()
	defer c.wire.world.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case expired(c.write):
		return os.ErrDeadlineExceeded
	case c.err == errEnd:
		return syscall.EPIPE
	}
	return c.err
}

func (c *conn) Close() error {
	c.wire.world.mu.Lock()
	again, dead := c.closed, c.err != nil
	c.closed = true
	c.rouse()
	c.wire.world.mu.Unlock()
	if again {
		return net.ErrClosed
	}
	if !dead && !c.wire.process.dead {
		c.wire.up.send("FIN", c.wire.left)
	}
	return nil
}

// left is what the server sees when the client has closed its end.
func (x *wire) left() {
	if x.far != nil {
		x.far.Close()
		x.far = nil
	}
}

func (c *conn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.wire.world.mu.Lock()
	defer c.wire.world.mu.Unlock()
	c.read = t
	c.rouse()
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.wire.world.mu.Lock()
	defer c.wire.world.mu.Unlock()
	c.write = t
	return nil
}

func (c *conn) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(10, 0, 1, byte(c.wire.process.client.number)), Port: 40000}
}
func (c *conn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(10, 0, 0, byte(c.wire.machine.number)), Port: 6379}
}

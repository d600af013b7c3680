package link

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"redlockrun/internal/lock"
)

// conns are the connections of one link. go-redis does not end a read when the
// context is cancelled; the end of ctx does, at once and for good.
type conns struct {
	tls      *tls.Config // nil: no TLS
	connect  lock.Dialer
	inFlight *inFlight
	most     int // bytes of a reply
	ctx      context.Context
	end      context.CancelFunc
	used     atomic.Bool // a connection has been made: a request can have reached a server
}

func newConns(ctx context.Context, src *Source, l *inFlight) *conns {
	cs := &conns{tls: src.tls, inFlight: l, most: mostOfRuns, connect: src.cfg.Dial}
	if src.looks {
		cs.most = mostOfLooks
	}
	if cs.connect == nil {
		cs.connect = new(net.Dialer).DialContext
	}
	cs.ctx, cs.end = context.WithCancel(ctx)
	return cs
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// dial connects within ctx, and for as long as the link wants them.
func (cs *conns) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(cs.ctx, cancel)()
	conn, raw, err := cs.reach(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &trackedConn{Conn: conn, raw: raw, of: cs, replies: bounds{most: cs.most}}
	c.forget = context.AfterFunc(cs.ctx, c.interrupt)
	cs.used.Store(true)
	if _, plain := conn.(syscall.Conn); plain {
		return plainConn{c}, nil
	}
	return c, nil
}

// reach connects within ctx, the TLS handshake included. It checks the certificate against the
// configured name of the servers, or the dialled host. raw is the connection below conn.
func (cs *conns) reach(ctx context.Context, network, addr string) (conn, raw net.Conn, err error) {
	if raw, err = cs.connect(ctx, network, addr); err != nil {
		return nil, nil, err
	}
	if cs.tls == nil {
		return raw, raw, nil
	}
	conf := cs.tls.Clone()
	if conf.ServerName == "" {
		host, _, _ := net.SplitHostPort(addr)
		conf.ServerName, _, _ = strings.Cut(host, "%") // a zone has a meaning on this host only
	}
	secure := tls.Client(raw, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, nil, err
	}
	return secure, raw, nil
}

// A trackedConn is a connection that can be interrupted, and that outlives Close when the
// answer to its last request is still awaited: see inFlight.
type trackedConn struct {
	net.Conn          // TLS, or raw
	raw      net.Conn // closing it sends no alert, which could block
	of       *conns
	forget   func() bool

	mu     sync.Mutex
	closed bool
	torn   bool // a request was written in part: nothing may follow it

	heard        atomic.Bool // something has come
	replies      bounds
	hangUpReason atomic.Pointer[rejection]
}

func (c *trackedConn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.Conn.SetDeadline(past)
	}
}

func (c *trackedConn) SetDeadline(t time.Time) error      { return c.limit(c.Conn.SetDeadline, t) }
func (c *trackedConn) SetReadDeadline(t time.Time) error  { return c.limit(c.Conn.SetReadDeadline, t) }
func (c *trackedConn) SetWriteDeadline(t time.Time) error { return c.limit(c.Conn.SetWriteDeadline, t) }

// limit sets a deadline, and keeps an interrupted connection interrupted: go-redis sets one
// before each read and write. It looks again, as the interruption may come in between.
func (c *trackedConn) limit(set func(time.Time) error, t time.Time) error {
	if err := set(t); err != nil || c.of.ctx.Err() == nil {
		return err
	}
	return set(past)
}

func (c *trackedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err == nil {
		return n, nil
	}
	c.mu.Lock()
	c.torn = true
	c.mu.Unlock()
	if !c.heard.Load() { // perhaps it has said something before it hung up
		c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		c.Read(make([]byte, 2048))
	}
	return n, c.reason(err)
}

func (c *trackedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Swap(true) {
		c.hangUpReason.Store(hangUpReason(string(b[:n])))
	}
	if wrong := c.replies.follow(b[:n]); wrong != nil {
		return 0, wrong
	}
	if err != nil {
		err = c.reason(err)
	}
	return n, err
}

// reason is why the server has hung up, if it has said so, or err.
func (c *trackedConn) reason(err error) error {
	if said := c.hangUpReason.Load(); said != nil {
		return said
	}
	return err
}

// hangUpReason is what a server says before it is asked, and hangs up: that it has no room for
// another client, or may not be reached from here. nil: it has not. Who writes then mostly
// finds the connection closed, and go-redis takes those words for the answer to a greeting.
func hangUpReason(said string) *rejection {
	words, refused := strings.CutPrefix(said, "-")
	line, _, whole := strings.Cut(words, "\r\n")
	if !refused || !whole {
		return nil
	}
	if r := ReadRefusal(line); r.Code == "MAXCLIENTS" || r.Code == "DENIED" {
		return r
	}
	return nil
}

func (c *trackedConn) Close() error {
	c.forget()
	c.mu.Lock()
	again, torn := c.closed, c.torn
	c.closed = true
	c.mu.Unlock()
	if again || !torn && c.of.inFlight.keep(c) {
		return nil
	}
	return c.raw.Close()
}

// plainConn lets go-redis look whether the server has closed an idle connection.
type plainConn struct{ *trackedConn }

func (c plainConn) SyscallConn() (syscall.RawConn, error) {
	return c.raw.(syscall.Conn).SyscallConn()
}

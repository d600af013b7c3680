package link

import (
	"context"
	"crypto/tls"
	"net"
	"redlockrun/internal/lock"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// wires are the connections of one link. go-redis does not end a read when the
// context is cancelled; the end of ctx does, at once and for good.
type wires struct {
	tls     *tls.Config // nil: no TLS
	connect lock.Dialer
	late    *late
	ctx     context.Context
	end     context.CancelFunc
	used    atomic.Bool // a connection has been made: a request can have reached a server
}

func newWires(ctx context.Context, src *Source, l *late) *wires {
	ws := &wires{tls: src.tls, late: l, connect: src.cfg.Dial}
	if ws.connect == nil {
		ws.connect = new(net.Dialer).DialContext
	}
	ws.ctx, ws.end = context.WithCancel(ctx)
	return ws
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// dial connects within ctx, and for as long as the wires are wanted.
func (ws *wires) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ws.ctx, cancel)()
	conn, raw, err := ws.reach(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, raw: raw, of: ws}
	w.forget = context.AfterFunc(ws.ctx, w.interrupt)
	ws.used.Store(true)
	if _, plain := conn.(syscall.Conn); plain {
		return plainWire{w}, nil
	}
	return w, nil
}

// reach connects within ctx, the TLS handshake included, and checks the
// certificate against the host that is dialled. raw is what conn is made of.
func (ws *wires) reach(ctx context.Context, network, addr string) (conn, raw net.Conn, err error) {
	if raw, err = ws.connect(ctx, network, addr); err != nil {
		return nil, nil, err
	}
	if ws.tls == nil {
		return raw, raw, nil
	}
	conf := ws.tls.Clone()
	conf.ServerName, _, _ = net.SplitHostPort(addr)
	secure := tls.Client(raw, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, nil, err
	}
	return secure, raw, nil
}

// A wire is a connection that can be interrupted, and that outlives Close when
// the answer to its last request is still wanted: see late.
type wire struct {
	net.Conn          // TLS, or raw
	raw      net.Conn // closing it sends no alert, which could block
	of       *wires
	forget   func() bool

	mu     sync.Mutex
	closed bool
	torn   bool // a request was written in part: nothing may follow it
}

func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.Conn.SetDeadline(past)
	}
}

func (w *wire) SetDeadline(t time.Time) error      { return w.Conn.SetDeadline(w.limit(t)) }
func (w *wire) SetReadDeadline(t time.Time) error  { return w.Conn.SetReadDeadline(w.limit(t)) }
func (w *wire) SetWriteDeadline(t time.Time) error { return w.Conn.SetWriteDeadline(w.limit(t)) }

// limit keeps an interrupted wire interrupted.
func (w *wire) limit(t time.Time) time.Time {
	if w.of.ctx.Err() != nil {
		return past
	}
	return t
}

func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if err != nil {
		w.mu.Lock()
		w.torn = true
		w.mu.Unlock()
	}
	return n, err
}

func (w *wire) Close() error {
	w.forget()
	w.mu.Lock()
	again, torn := w.closed, w.torn
	w.closed = true
	w.mu.Unlock()
	if again || !torn && w.of.late.keep(w) {
		return nil
	}
	return w.raw.Close()
}

// plainWire lets go-redis look whether the server has closed an idle connection.
type plainWire struct{ *wire }

func (w plainWire) SyscallConn() (syscall.RawConn, error) {
	return w.raw.(syscall.Conn).SyscallConn()
}

// late holds back the connections on which an acquire got no answer. If the
// acquiring is given up, a release goes after the acquire on the same connection:
// nothing can come between the two, and no answer is needed.
type late struct {
	mu    sync.Mutex
	off   bool
	wires []*wire
}

// keepMost bounds the descriptors that a long outage costs.
const keepMost = 4

func (l *late) keep(w *wire) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return false
	}
	l.wires = append(l.wires, w)
	if len(l.wires) > keepMost {
		l.wires[0].raw.Close()
		l.wires = l.wires[1:]
	}
	return true
}

// close closes the connections after a last request on each, if there is one.
func (l *late) close(last []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
	for _, w := range l.wires {
		if last != nil {
			w.Conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
			w.Conn.Write(last)
		}
		w.raw.Close()
	}
	l.wires = nil
}

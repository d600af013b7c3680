package redistest

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Proxy stands between a client and a server on the loopback and forwards
// every request (a RESP array of bulk strings) until it is told otherwise. It
// does not understand TLS. Its methods may be used by several goroutines.
type Proxy struct {
	listener net.Listener
	network  string // of the target
	target   string
	wg       sync.WaitGroup

	mu       sync.Mutex
	changed  sync.Cond // what is below has changed
	links    map[*link]struct{}
	rules    []*rule
	hole     bool
	refusing bool
	closed   bool
	accepted int
	trips    int
	requests []string
	changes  []rewriting

	forgeries []*forgery

	mute bool
}

// A rule is one fault that waits for its request.
type rule struct {
	contains string
	drop     bool  // lose the reply, else hold the request back
	cut      bool  // pass the reply on, and end the connection
	once     bool  // hold back one request alone
	of       *link // that request's, when it has come
	released bool
}

// NewProxy starts a proxy to the server s that ends with the test.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	p, err := Forward("unix", s.Socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Forward starts a proxy to an address. Close ends it.
func Forward(network, target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, network: network, target: target, links: map[*link]struct{}{}}
	p.changed.L = &p.mu
	p.wg.Go(p.accept)
	return p, nil
}

// Addr is the proxy's host:port, and URL what --redis takes.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }
func (p *Proxy) URL() string  { return "redis://" + p.Addr() }

// LoseReply forwards the next request that contains text, waits until the
// server has answered it, and cuts the connection instead of passing the
// answer on. Called n times, it does so for n requests.
func (p *Proxy) LoseReply(text string) { p.add(&rule{contains: text, drop: true}) }

// CutAfter cuts each connection on which a request that contains text comes, when
// the server's answer to it has been passed on.
func (p *Proxy) CutAfter(text string) { p.add(&rule{contains: text, cut: true}) }

// Hold keeps back each request that contains text, and what follows it on the
// same connection, until release is called; then they reach the server, whether
// the client is still there or not.
func (p *Proxy) Hold(text string) (release func()) {
	r := &rule{contains: text}
	p.add(r)
	return func() { p.update(func() { r.released = true }) }
}

// HoldNext is Hold for the next request alone that contains text.
func (p *Proxy) HoldNext(text string) (release func()) {
	r := &rule{contains: text, once: true}
	p.add(r)
	return func() { p.update(func() { r.released = true }) }
}

// BlackHole lets, while on, nothing pass in either direction: connections are
// accepted and never answered. What was sent meanwhile arrives afterwards, as
// with TCP, whether the client is still there or not.
func (p *Proxy) BlackHole(on bool) { p.update(func() { p.hole = on }) }

// Refuse resets, while on, each new connection.
func (p *Proxy) Refuse(on bool) { p.update(func() { p.refusing = on }) }

// Reset resets every open connection (RST, not FIN).
func (p *Proxy) Reset() {
	p.update(func() {
		for l := range p.links {
			l.client.(*net.TCPConn).SetLinger(0)
			l.client.Close()
		}
	})
}

// Requests are the requests so far, each as its words joined by a space, in
// the order in which they came, whether forwarded or not.
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Count is the number of requests so far that contain text.
func (p *Proxy) Count(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count(text)
}

// Accepted is the number of connections so far.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// RoundTrips is the number of requests so far, those that came in one piece
// counting once.
func (p *Proxy) RoundTrips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}

// Await returns true as soon as n requests have come that contain text, and
// false if that takes too long.
func (p *Proxy) Await(text string, n int) bool {
	return p.await(func() bool { return p.count(text) >= n })
}

// AwaitClosed returns true as soon as no connection is open.
func (p *Proxy) AwaitClosed() bool {
	return p.await(func() bool { return len(p.links) == 0 })
}

func (p *Proxy) await(done func() bool) bool {
	deadline := time.Now().Add(patience)
	late := time.AfterFunc(patience, func() { p.update(func() {}) })
	defer late.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !done() {
		if !time.Now().Before(deadline) {
			return false
		}
		p.changed.Wait()
	}
	return true
}

func (p *Proxy) count(text string) (n int) {
	for _, r := range p.requests {
		if strings.Contains(r, text) {
			n++
		}
	}
	return n
}

// Close ends the proxy and every connection.
func (p *Proxy) Close() {
	p.listener.Close()
	p.update(func() {
		p.closed = true
		for l := range p.links {
			l.client.Close()
			l.server.Close()
		}
	})
	p.wg.Wait()
}

func (p *Proxy) add(r *rule) { p.update(func() { p.rules = append(p.rules, r) }) }

func (p *Proxy) update(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.changed.Broadcast()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted++
	if p.refusing || p.closed {
		client.(*net.TCPConn).SetLinger(0)
		client.Close()
		return
	}
	server, err := net.Dial(p.network, p.target)
	if err != nil {
		client.(*net.TCPConn).SetLinger(0)
		client.Close()
		return
	}
	l := &link{proxy: p, client: client, server: server}
	p.links[l] = struct{}{}
	p.wg.Add(2)
	go l.up()
	go l.down()
}

// A link is one connection of a client and the one to the server that belongs
// to it. The server's side ends when the server says so: then it has done what
// was sent to it.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	losing         bool // the next bytes of the server are lost, and the link with them
	cutting        bool // they are the last
	ended          int  // directions that have ended; after the second the link is gone
}

func (l *link) end() {
	l.proxy.update(func() {
		if l.ended++; l.ended == 2 {
			delete(l.proxy.links, l)
		}
	})
	l.proxy.wg.Done()
}

func (l *link) up() {
	defer l.end()
	defer l.server.(interface{ CloseWrite() error }).CloseWrite()
	in := bufio.NewReaderSize(l.client, 64<<10)
	for {
		first := in.Buffered() == 0
		raw, words, err := readRequest(in)
		if err != nil || !l.pass(strings.Join(words, " "), first) {
			return
		}
		if reply := l.proxy.forged(strings.Join(words, " ")); reply != "" {
			l.client.Write([]byte(reply))
			continue
		}
		if _, err := l.server.Write(l.proxy.rewritten(raw, words)); err != nil {
			return
		}
	}
}

// pass waits until the request may go to the server; false: never.
func (l *link) pass(words string, first bool) bool {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, words)
	if first {
		p.trips++
	}
	p.changed.Broadcast()
	for !p.closed && p.keeps(l, words) {
		p.changed.Wait()
	}
	return !p.closed
}

func (p *Proxy) keeps(l *link, words string) bool {
	if p.hole {
		return true
	}
	for i, r := range p.rules {
		switch {
		case !strings.Contains(words, r.contains) || r.released:
		case r.cut:
			l.cutting = true
			return false
		case r.drop:
			l.losing = true
			p.rules = append(p.rules[:i:i], p.rules[i+1:]...)
			return false
		case r.once && r.of != nil && r.of != l:
		default:
			r.of = l
			return true
		}
	}
	return false
}

func (l *link) down() {
	defer l.end()
	defer l.server.Close()
	defer l.client.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := l.server.Read(buf)
		if err != nil || !l.deliver() {
			return
		}
		if !l.proxy.swallows(buf[:n]) {
			l.client.Write(buf[:n]) // a client that has gone still has its requests done
		}
		if l.isLast() {
			return
		}
	}
}

func (l *link) isLast() bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	return l.cutting
}

// deliver waits until an answer may go to the client; false: it is lost.
func (l *link) deliver() bool {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.hole && !p.closed {
		p.changed.Wait()
	}
	return !l.losing && !p.closed
}

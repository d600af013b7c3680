//go:build linux

package main

import (
	"net"
	"sync"
)

// A relay stands for a cable where none can be made: it passes on what comes on each
// connection, whatever it is, and keeps it back while it is held.
type relay struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu     sync.Mutex
	change sync.Cond
	held   bool
	closed bool
	conns  []net.Conn
}

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// forward starts a relay to an address. close ends it, and every connection.
func forward(target string) (*relay, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, target: target}
	r.change.L = &r.mu
	r.wg.Go(r.accept)
	return r, nil
}

func (r *relay) addr() string { return r.listener.Addr().String() }

func (r *relay) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		if r.keep(conn) {
			r.wg.Go(func() { r.serve(conn) })
		}
	}
}

// keep has a connection closed at the end; false: the end has come.
func (r *relay) keep(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		conn.Close()
		return false
	}
	r.conns = append(r.conns, conn)
	return true
}

func (r *relay) serve(client net.Conn) {
	defer client.Close()
	if !r.pass() {
		return
	}
	server, err := net.Dial("tcp", r.target)
	if err != nil || !r.keep(server) {
		return
	}
	defer server.Close()
	r.wg.Go(func() { r.copy(server, client) })
	r.copy(client, server)
}

// copy passes on until one of the two ends, and then ends the other.
func (r *relay) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	for buf := make([]byte, 64<<10); ; {
		n, err := from.Read(buf)
		if n > 0 {
			if !r.pass() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the relay is held; false is its end.
func (r *relay) pass() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held && !r.closed {
		r.change.Wait()
	}
	return !r.closed
}

func (r *relay) hold(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = on
	r.change.Broadcast()
}

func (r *relay) close() {
	r.listener.Close()
	r.mu.Lock()
	r.closed = true
	r.change.Broadcast()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

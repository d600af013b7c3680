package link

import (
	"context"
	"crypto/x509"
	"net"

	"redlockrun/internal/lock"

	"github.com/redis/go-redis/v9"
)

// A Peer is one server that is asked by its own address, wherever the lock lives: nothing leads away
// from it. It keeps a connection from one question to the next, and replaces one that has failed. Not
// for several goroutines.
type Peer struct {
	source *Source
	addr   Address // of this server alone

	client *redis.Client // nil: connect first
	conns  *conns        // the client's
}

// Named are the servers that the URL names: the one, the sentinels, or nodes of a Cluster.
func (s *Source) Named() (peers []*Peer) {
	for _, host := range s.addr.hosts {
		p := s.Peer(host)
		if s.addr.kind == sentinel {
			p.addr = s.addr.sentinelLogin(host)
			p.addr.kind = single
		}
		peers = append(peers, p)
	}
	return peers
}

// Peer is the server at an address where locks are kept, asked with the user and the password
// of the URL.
func (s *Source) Peer(host string) *Peer {
	addr := s.addr.login(host)
	addr.kind, addr.network, addr.db = single, s.addr.network, s.addr.db
	return &Peer{source: s, addr: addr}
}

// Address is host:port, or the path of a socket.
func (p *Peer) Address() string { return p.addr.hosts[0] }

// User is the user of the connection; "" is the server's default user.
func (p *Peer) User() string { return p.addr.user }

// Secret reports whether there is a password to show.
func (p *Peer) Secret() bool { return p.addr.password != "" || p.addr.passwords != nil }

// Reach connects and hangs up, and returns who answered, with TLS the certificate that was
// shown, too. The error is one of package net, tls or x509, or the end of ctx.
func (p *Peer) Reach(ctx context.Context) (net.Addr, *x509.Certificate, error) {
	cs := newConns(ctx, p.source, &inFlight{off: true})
	defer cs.end()
	conn, raw, err := cs.reach(ctx, p.addr.network, p.Address())
	if err != nil {
		return nil, nil, err
	}
	defer raw.Close()
	return raw.RemoteAddr(), leaf(conn), nil
}

// Ask puts one question, within ctx. The reply is a string, an int64, a []any or nil; a
// refusal is an error in which a *lock.Refusal is found.
func (p *Peer) Ask(ctx context.Context, words ...any) (any, error) {
	if p.client == nil {
		p.conns = newConns(context.Background(), p.source, &inFlight{off: true})
		p.client = redis.NewClient(options(p.addr, p.conns))
	}
	stop := context.AfterFunc(ctx, p.conns.end)
	reply, err := p.client.Do(ctx, words...).Result()
	reply, err = replyOf(reply, err)
	if refused, ok := reply.(*rejection); ok && err == nil {
		reply, err = nil, refused
	}
	if !stop() || err != nil && !reusable(err) {
		p.Close()
	}
	return reply, causeOf(ctx, p.addr.outdated(err))
}

// Listen listens to a channel, over a connection of its own, until unsubscribe is called. The messages
// end with the connection, too.
func (p *Peer) Listen(ctx context.Context, channel string) (messages <-chan string, unsubscribe func(), err error) {
	cs := newConns(context.Background(), p.source, &inFlight{off: true})
	s, err := subscribe(ctx, redis.NewClient(options(p.addr, cs)), cs, channel)
	if err != nil {
		return nil, nil, p.addr.outdated(err)
	}
	return s.Messages, s.Close, nil
}

// Say is an error as users see it, without the address.
func (p *Peer) Say(err error) string { return sayOne(err, p.addr) }

// Close ends the connection; the next question makes another.
func (p *Peer) Close() {
	if p.client != nil {
		p.conns.end()
		p.client.Close()
		p.client = nil
	}
}

// ReadError is the refusal that one command of a script has met.
func ReadError(text string) *lock.Refusal { return ReadRefusal(text).Refusal }

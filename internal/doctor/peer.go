package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"net"

	"redlockrun/internal/lock"
)

// A Role is the purpose of a server.
type Role string

// The roles.
const (
	Keeper   Role = "keeper"   // it keeps locks: the one server, the master that sentinels name, one of a quorum
	Node     Role = "node"     // it keeps some of them, or may come to: a node of a Cluster
	Sentinel Role = "sentinel" // it knows the master
)

// A Server is asked by its own address. Not for several goroutines.
type Server interface {
	// Address is host:port, or the path of a socket.
	Address() string

	// User is the user of the connection; "" is the server's default user.
	User() string

	// Secret reports whether there is a password to show.
	Secret() bool

	// Reach connects and hangs up, and returns who answered, with TLS the certificate that
	// was shown, too.
	Reach(ctx context.Context) (net.Addr, *x509.Certificate, error)

	// Ask puts one question. The reply is a string, an int64, a []any or nil; a refusal is
	// an error in which a *lock.Refusal is found.
	Ask(ctx context.Context, words ...any) (any, error)

	// Say is an error as users see it: short, and without anything secret.
	Say(err error) string

	Close()
}

// A Peer is one of the servers that a store consists of.
type Peer struct {
	Server
	Role   Role
	Master string // of a sentinel: what it calls the master
	URL    int    // which of the store's URLs has led to it, from 0
}

// A visit is the examination of a peer. What one check has found out, those after it know.
type visit struct {
	Peer
	*Examination
	found   []Finding
	told    told              // for the surveys
	reached bool              // it has answered, and all its checks have been made
	idle    bool              // it keeps no locks at present: a replica of a Cluster
	info    map[string]string // see Info
	infoErr error
}

// ask puts one question within the limit of one.
func (v *visit) ask(ctx context.Context, words ...any) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, v.Limit)
	defer cancel()
	return v.Ask(ctx, words...)
}

// is is a finding about this peer.
func (v *visit) is(check string, r Result, format string, args ...any) Finding {
	f := about(check, r, format, args...)
	f.Server = v.Address()
	return f
}

// user returns the server's name for the user of the connection.
func (v *visit) user() string {
	if v.User() == "" {
		return "default"
	}
	return v.User()
}

// refusedBy is the refusal in err; the zero one if there is none.
func refusedBy(err error) lock.Refusal {
	if refusal, ok := errors.AsType[*lock.Refusal](err); ok {
		return *refusal
	}
	return lock.Refusal{}
}

// barred reports whether the user may not do what was asked for, or the server does not know it.
func barred(err error) bool {
	code := refusedBy(err).Code
	return code == "NOPERM" || code == lock.NOCOMMAND
}

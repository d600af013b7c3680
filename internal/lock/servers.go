package lock

import (
	"context"
	"net"
	"strings"
	"time"
)

// DefaultPrefix is before each key, unless Servers says otherwise.
const DefaultPrefix = "redlockrun:"

// CheckPrefix refuses a prefix that would move the hash tag away from the lock's name.
func CheckPrefix(prefix string) error {
	if strings.ContainsAny(prefix, "{}") {
		return &ConfigError{Subject: "the prefix", Problem: "it has a brace in it"}
	}
	return nil
}

// Servers says where locks are kept in Redis.
type Servers struct {
	// URLs are redis://, rediss:// or unix:// URLs, or file:PATH for a file that
	// holds one and is read again for each new connection. More than one is a quorum.
	URLs []string

	// Prefix is before each key; DefaultPrefix unless the user wants another.
	Prefix string

	// CA is a PEM file with the only authorities that servers are trusted by; empty
	// means the system's. Cert and Key are the PEM files of a client certificate.
	// They are read again for each new connection.
	CA, Cert, Key string

	// ServerName is the name that the certificate of each server and sentinel must have;
	// empty is the host that is dialled.
	ServerName string

	// Durable says that the servers of a quorum keep their data when they are
	// restarted. Otherwise one that has been up for less than a minute, or the ttl,
	// does not vote.
	Durable bool

	// PasswordFile and SentinelPasswordFile are files that hold the password of the
	// server and of its sentinels, for URLs that name none. They are read again for
	// each new connection, hence whenever a server has refused one. The end of the
	// line is no part of a password.
	PasswordFile, SentinelPasswordFile string

	// Passwords, if not nil, has the passwords of the server, for URLs that name none and in
	// place of PasswordFile. It is asked for each new connection.
	Passwords Passwords

	// FilesTimeout is how long the files are read at the start; 0 is DefaultFilesTimeout.
	FilesTimeout time.Duration

	// Replicas is how many replicas must have acknowledged an acquire before it
	// counts, and ReplicasTimeout how long they are waited for; 0 is
	// DefaultReplicasTimeout. Fewer: the lock is given back, and Acquire returns an
	// *UnavailableError. Not with a quorum.
	Replicas        int
	ReplicasTimeout time.Duration

	Dial      Dialer        // nil, but in tests: net.Dialer's
	MinUptime time.Duration // 0, but in tests: a minute
}

// MinUptime is the least time that a master of a quorum must be up to vote, since it may have
// forgotten to whom it had given the lock when it was restarted.
const MinUptime = time.Minute

// UptimeToVote is for how many seconds a master of a quorum must have been up to vote for a
// lease of that ttl, by what it says itself; 0 if it need not.
func (s Servers) UptimeToVote(ttl time.Duration) int64 {
	if s.Durable {
		return 0
	}
	least := s.MinUptime
	if least <= 0 {
		least = MinUptime
	}
	return int64((max(ttl, least)+time.Second-1)/time.Second) + 1 // as it counts whole seconds
}

// Passwords has passwords that do not last. It is for several goroutines.
type Passwords interface {
	// Password is one for a connection that is made now. Its error is a *PasswordError; the
	// end of ctx ends the wait for it.
	Password(ctx context.Context) (string, error)

	// Refused says that a server has refused one: the next is another.
	Refused()

	// Last is the last that there was, "" if there was none: it is not to be shown.
	Last() string
}

// A PasswordError says why there is no password for a connection. Nothing has been asked
// over it then.
type PasswordError struct {
	Problem string
	Final   bool // it will be no better at the next try
}

func (e *PasswordError) Error() string { return "get password: " + e.Problem }

// DefaultReplicasTimeout is Servers.ReplicasTimeout if that is not said.
const DefaultReplicasTimeout = time.Second

// DefaultFilesTimeout is Servers.FilesTimeout if that is not said.
const DefaultFilesTimeout = 5 * time.Second

// A Dialer connects, as net.Dialer.DialContext does.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

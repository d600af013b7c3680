package lock

import (
	"context"
	"net"
	"strings"
	"time"
)

// DefaultPrefix precedes each key, unless Servers says otherwise.
const DefaultPrefix = "redlockrun:"

// CheckPrefix refuses a prefix that would move the hash tag away from the lock's name.
func CheckPrefix(prefix string) error {
	if strings.ContainsAny(prefix, "{}") {
		return &ConfigError{Subject: "the prefix", Problem: "it contains a brace"}
	}
	return nil
}

// Servers says where Redis keeps the locks.
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

	// Passwords supplies passwords that do not last. Several goroutines may use it.
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

// MinUptime is how long a master of a quorum must have run to vote: a restart may have made it
// forget the holder.
const MinUptime = time.Minute

// UptimeToVote is for how many seconds, by its own count, a master of a quorum must have run to
// vote for a lease of that ttl; 0 if there is no such limit.
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
	// Password returns the password for a connection that is made now. Its error is a
	// *PasswordError. The end of ctx ends the wait.
	Password(ctx context.Context) (string, error)

	// Refused says that a server refused a password: the next one is another.
	Refused()

	// Last is the latest password, or "": messages must not show it.
	Last() string
}

// A PasswordError says why a connection has no password. Nothing was asked over it.
type PasswordError struct {
	Problem string
	Final   bool // the next try fails in the same way
}

func (e *PasswordError) Error() string { return "get password: " + e.Problem }

// DefaultReplicasTimeout is the default of Servers.ReplicasTimeout.
const DefaultReplicasTimeout = time.Second

// DefaultFilesTimeout is the default of Servers.FilesTimeout.
const DefaultFilesTimeout = 5 * time.Second

// A Dialer connects, as net.Dialer.DialContext does.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

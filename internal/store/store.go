// Package store opens the Redis store that the addresses describe: one URL is a server with its
// waiting line, several are a quorum.
package store

import (
	"redlockrun/internal/config"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/quorum"
)

// Open opens the store for runs. It connects to no server yet.
func Open(servers lock.Servers) (lock.Store, error) {
	if len(servers.URLs) > 1 {
		return quorum.Open(servers)
	}
	return line.Open(servers)
}

// OpenInspector opens the store to read jobs.
func OpenInspector(servers lock.Servers, i lock.Inspection) (lock.Inspector, error) {
	if len(servers.URLs) > 1 {
		return quorum.OpenInspector(servers, i)
	}
	return line.OpenInspector(servers, i)
}

// OpenOperator opens the store to change jobs.
func OpenOperator(servers lock.Servers, i lock.Inspection) (lock.Operator, error) {
	if len(servers.URLs) > 1 {
		return quorum.OpenOperator(servers, i)
	}
	return line.OpenOperator(servers, i)
}

// ExposedPasswords warns of a password that is sent in plain text.
func ExposedPasswords(c *config.Config) []string {
	if c.Address.Local {
		return nil
	}
	if host := line.PlainPassword(c.Servers); host != "" {
		return []string{"the password goes to " + host + " in plain text; rediss:// in place of redis:// hides it"}
	}
	return nil
}

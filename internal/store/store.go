// Package store opens the Redis store that the addresses describe: one URL is a server with its
// waiting line, several are a quorum.
package store

import (
	"redlockrun/internal/config"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/lock/quorum"
)

// Open opens the store in which these servers keep locks: one URL is a server with a queue,
// several are a quorum. It asks no server yet.
func Open(servers lock.Servers) (lock.Store, error) {
	if len(servers.URLs) > 1 {
		return quorum.Open(servers)
	}
	return line.Open(servers)
}

// OpenInspector opens the same store to read jobs.
func OpenInspector(servers lock.Servers, i lock.Inspection) (lock.Inspector, error) {
	open := line.OpenInspector
	if len(servers.URLs) > 1 {
		open = quorum.OpenInspector
	}
	jobs, err := open(servers, i)
	if err != nil {
		return nil, err
	}
	return permits.Inspect(jobs), nil
}

// OpenOperator opens the same store to change jobs.
func OpenOperator(servers lock.Servers, i lock.Inspection) (lock.Operator, error) {
	openOperator, openInspector := line.OpenOperator, line.OpenInspector
	if len(servers.URLs) > 1 {
		openOperator, openInspector = quorum.OpenOperator, quorum.OpenInspector
	}
	change, err := openOperator(servers, i)
	if err != nil {
		return nil, err
	}
	jobs, err := openInspector(servers, i)
	if err != nil {
		return nil, err
	}
	return permits.Operate(change, jobs), nil
}

// ExposedPasswords warns about a password that the network between here and a server can read.
func ExposedPasswords(c *config.Config) []string {
	if c.Address.Local {
		return nil
	}
	if host := line.PlainPassword(c.Servers); host != "" {
		return []string{"the password goes to " + host + " in plain text; rediss:// in place of redis:// hides it"}
	}
	return nil
}

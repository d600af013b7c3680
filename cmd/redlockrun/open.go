package main

import (
	"os"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/local"
	"redlockrun/internal/lock/quorum"
)

// open finds the store that the configuration describes, which asks nobody
// yet, and what the guard has to hold open for it.
func (s *session) open() (lock.Store, []*os.File, error) {
	if s.Address.Local {
		return s.openLocal()
	}
	store, err := openStore(s.Servers)
	if err != nil {
		return nil, nil, err
	}
	s.place = store.Address()
	return store, nil, nil
}

func openStore(servers lock.Servers) (lock.Store, error) {
	if len(servers.URLs) > 1 {
		return quorum.Open(servers)
	}
	return line.Open(servers)
}

// fileSettings are the settings behind the fields of lock.Servers that name files.
var fileSettings = map[string]string{
	"CA": "redis-ca", "Cert": "redis-cert", "Key": "redis-key",
	"PasswordFile": "redis-password-file", "SentinelPasswordFile": "sentinel-password-file",
}

// whence is where what is wrong came from.
func (c *plan) whence(wrong *lock.ConfigError) string {
	if setting := fileSettings[wrong.Field]; setting != "" {
		if source := c.Source(setting); source != "" {
			return "from " + source
		}
	}
	return c.Address.Whence()
}

// advice is what to do about what is wrong, in the words of the command line.
func (c *plan) advice(wrong *lock.ConfigError) string {
	switch {
	case wrong.Reason == lock.SeveralHosts:
		return "several servers are a redis+sentinel:// or redis+cluster:// URL, or several --redis for a quorum"
	case wrong.Reason == lock.OddParameter:
		return "times and TLS are set by --redis-timeout, rediss:// and --redis-ca"
	case wrong.Reason == lock.OddSentinelParameter:
		return "times and TLS are set by --redis-timeout, rediss+sentinel:// and --redis-ca"
	case wrong.Reason == lock.TwoMasters:
		return "give one --redis, or three or five for a quorum"
	case c.Address.Local && wrong.Hint != "":
		return wrong.Hint + ": --local=DIR"
	}
	return wrong.Hint
}

// exposed warns of a password that anybody on the way can read.
func (c *plan) exposed() []string {
	if c.Address.Local {
		return nil
	}
	if host := line.PlainPassword(c.Servers); host != "" {
		return []string{"the password goes to " + host + " in plain text; rediss:// in place of redis:// hides it"}
	}
	return nil
}

// openLocal shares the lock's file with the guard: should redlockrun die, the
// lock is held until the guard has killed the command.
func (s *session) openLocal() (lock.Store, []*os.File, error) {
	store, err := local.Open(s.Address.Dir)
	if err != nil {
		return nil, nil, err
	}
	s.place = store.Address()
	file, err := store.File(s.Key)
	if err != nil {
		return nil, nil, err
	}
	return store, []*os.File{file}, nil
}

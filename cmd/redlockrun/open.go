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
	if s.address.local {
		return s.openLocal()
	}
	open := line.Open
	if len(s.address.urls) > 1 {
		open = quorum.Open
	}
	store, err := open(s.openConfig())
	if err != nil {
		return nil, nil, err
	}
	s.address.name = store.Address()
	return store, nil, nil
}

func (c *config) openConfig() lock.Servers {
	return lock.Servers{
		URLs: c.address.urls, Prefix: c.prefix,
		CA: c.tls.ca, Cert: c.tls.cert, Key: c.tls.key,
		PasswordFile: c.passwords.redis, SentinelPasswordFile: c.passwords.sentinel,
		Replicas: c.replicas, ReplicasTimeout: c.acking, Durable: c.durable,
	}
}

// fileSettings are the settings behind the fields of lock.Servers that name files.
var fileSettings = map[string]string{
	"CA": "redis-ca", "Cert": "redis-cert", "Key": "redis-key",
	"PasswordFile": "redis-password-file", "SentinelPasswordFile": "sentinel-password-file",
}

// whence is where what is wrong came from.
func (c *config) whence(wrong *lock.ConfigError) string {
	if name := fileSettings[wrong.Field]; name != "" {
		if g, err := c.sources.nearest(name); err == nil && g.said() {
			return "from " + g.called
		}
	}
	return c.address.whence()
}

// exposed warns of a password that anybody on the way can read.
func (c *config) exposed() []string {
	if c.address.local {
		return nil
	}
	if host := line.PlainPassword(c.openConfig()); host != "" {
		return []string{"the password goes to " + host + " in plain text; rediss:// in place of redis:// hides it"}
	}
	return nil
}

// openLocal shares the lock's file with the guard: should redlockrun die, the
// lock is held until the guard has killed the command.
func (s *session) openLocal() (lock.Store, []*os.File, error) {
	store, err := local.Open(s.address.dir)
	if err != nil {
		return nil, nil, err
	}
	s.address.name = store.Address()
	file, err := store.File(s.key)
	if err != nil {
		return nil, nil, err
	}
	return store, []*os.File{file}, nil
}

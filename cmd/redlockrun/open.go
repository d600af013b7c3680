package main

import "redlockrun/internal/lock"

// open finds the store that the configuration describes. It asks nobody yet.
func (s *session) open() (lock.Store, error) {
	if s.address.local {
		return nil, &lock.ConfigError{Subject: "--local", Problem: "it is not built yet"}
	}
	store, err := lock.Open(lock.OpenConfig{
		URLs: s.address.urls, Prefix: s.prefix,
		CA: s.tls.ca, Cert: s.tls.cert, Key: s.tls.key,
	})
	if err != nil {
		return nil, err
	}
	s.address.name = store.Address()
	return store, nil
}

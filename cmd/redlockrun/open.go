package main

import (
	"os"

	"redlockrun/internal/lock"
)

// open finds the store that the configuration describes, which asks nobody
// yet, and what the guard has to hold open for it.
func (s *session) open() (lock.Store, []*os.File, error) {
	if s.address.local {
		return s.openLocal()
	}
	store, err := lock.Open(lock.OpenConfig{
		URLs: s.address.urls, Prefix: s.prefix,
		CA: s.tls.ca, Cert: s.tls.cert, Key: s.tls.key,
	})
	if err != nil {
		return nil, nil, err
	}
	s.address.name = store.Address()
	return store, nil, nil
}

// openLocal shares the lock's file with the guard: should redlockrun die, the
// lock is held until the guard has killed the command.
func (s *session) openLocal() (lock.Store, []*os.File, error) {
	store, err := lock.OpenLocal(s.address.dir)
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

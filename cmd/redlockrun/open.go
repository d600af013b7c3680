package main

import (
	"os"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/local"
)

// open finds the store that the configuration describes, which asks nobody
// yet, and what the guard has to hold open for it.
func (s *session) open() (lock.Store, []*os.File, error) {
	if s.Address.Local {
		return s.openLocal()
	}
	store, err := atOnce(s.signals, func() (lock.Store, error) { return openStore(s.Servers) })
	if err != nil {
		return nil, nil, err
	}
	s.place = store.Address()
	return store, nil, nil
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

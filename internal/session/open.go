package session

import (
	"os"

	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/local"
	"redlockrun/internal/store"
)

// Open opens the store that the configuration describes, without asking any server, and returns
// the files that the guard must keep open for it.
func (s *session) Open() (lock.Store, []*os.File, error) {
	if s.config.Address.Local {
		return s.openLocal()
	}
	store, err := interrupt.AtOnce(s.signals, func() (lock.Store, error) { return store.Open(s.config.Servers) })
	if err != nil {
		return nil, nil, err
	}
	s.about.Place = store.Address()
	return store, nil, nil
}

// openLocal shares the lock's file with the guard: if redlockrun dies, the lock stays held until
// the guard has killed the command.
func (s *session) openLocal() (lock.Store, []*os.File, error) {
	store, err := local.Open(s.config.Address.Dir)
	if err != nil {
		return nil, nil, err
	}
	s.about.Place = store.Address()
	file, err := store.File(s.config.Key)
	if err != nil {
		return nil, nil, err
	}
	return store, []*os.File{file}, nil
}

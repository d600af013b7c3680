package session

import (
	"os"

	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/local"
	"redlockrun/internal/lock/permits"
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
	return s.withPermits(store), nil, nil
}

// withPermits returns the store in which the name has permits, if it is to have any.
func (s *session) withPermits(of lock.Store) lock.Store {
	p := s.config.Permits
	if p.Of == 0 {
		return of
	}
	return permits.New(of, permits.Claim{Of: p.Of, Take: p.Take, All: p.All})
}

// openLocal shares the lock's file with the guard: if redlockrun dies, the lock stays held until
// the guard has killed the command.
func (s *session) openLocal() (lock.Store, []*os.File, error) {
	store, err := local.Open(s.config.Address.Dir)
	if err != nil {
		return nil, nil, err
	}
	s.about.Place = store.Address()
	if s.config.Permits.Of > 0 {
		return s.withPermits(store), nil, nil // the guard gets the files of those that the run has
	}
	file, err := store.File(s.config.Key)
	if err != nil {
		return nil, nil, err
	}
	return store, []*os.File{file}, nil
}

// filesOf returns the files of a local lease, which the guard must keep open.
func filesOf(lease lock.Lease) (files []*os.File) {
	parts := []lock.Lease{lease}
	if p, ok := lease.(permits.Lease); ok {
		parts = p.Parts()
	}
	for _, part := range parts {
		if l, ok := part.(interface{ File() *os.File }); ok {
			files = append(files, l.File())
		}
	}
	return files
}

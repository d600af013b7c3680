package inspect

import (
	"context"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

const (
	// perPiece is how many entries are read in one step.
	perPiece = 500

	// mostRuns bounds how many are read of a list.
	mostRuns = 10_000
)

// Runs implements lock.Inspector.
func (s *Server) Runs(ctx context.Context, name string, bad bool) ([]lock.Entry, error) {
	keys := wire.KeysOf(s.prefix, name, "")
	v := s.visit(ctx, keys.Lock)
	defer v.link.Close()
	texts, err := v.list(ctx, keys.Runs)
	if err == nil && bad {
		var more []string
		more, err = v.list(ctx, keys.Bad)
		texts = append(texts, more...) // what is only there lies further back
	}
	entries, _ := wire.ReadEntries(texts)
	return entries, err
}

// list reads a list of entries.
func (v *visit) list(ctx context.Context, key string) (texts []string, err error) {
	for len(texts) < mostRuns {
		reply, err := ask(ctx, v, runsStep, []string{key}, len(texts), len(texts)+perPiece-1)
		if err != nil {
			return nil, err
		}
		if reply.wrong {
			return nil, &lock.NotLockError{Key: key, What: "of another type", Wanted: "the list of a job's runs"}
		}
		if texts = append(texts, reply.entries...); len(reply.entries) < perPiece {
			break
		}
	}
	return texts, nil
}

package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlockrun/internal/lock"
)

// KeepOutput implements lock.OutputKeeper: each master keeps it. When a majority has, the others are waited for one
// more
// round trip.
func (l *quorumLease) KeepOutput(ctx context.Context, o lock.Output) error {
	defer l.closeMasters()
	began := time.Now()
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	answers := make(chan error, len(l.key))
	for _, m := range l.election.masters {
		l.work.Go(func() { answers <- m.keepOutput(ctx, o) })
	}
	var failed []error
	kept := 0
	for range l.key {
		if err := <-answers; err != nil {
			failed = append(failed, err)
		} else if kept++; kept == l.need() {
			time.AfterFunc(lock.Clamp(leastTrip, time.Since(began), mostTrip), cut)
		}
	}
	if kept >= l.need() {
		return nil
	}
	return fmt.Errorf("kept by %d of %d masters: %w", kept, len(l.key), errors.Join(failed...))
}

func (l *quorumLease) closeMasters() {
	for _, m := range l.election.masters {
		m.close()
	}
}

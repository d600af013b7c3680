package session

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
)

// splay waits, so that the hosts of a fleet do not all ask at the same instant. A signal ends the
// wait, and is the error.
func (s *session) splay() error {
	part := partOf(s.config.Splay, s.config.Key, lock.HostName())
	if part == 0 {
		return nil
	}
	s.saySplay(part)
	_, err := interrupt.Run(s.signals, func(ctx context.Context) (struct{}, error) {
		select {
		case <-time.After(part):
		case <-ctx.Done(): // Run returns the signal
		}
		return struct{}{}, nil
	})
	return err
}

// partOf returns a part of the whole, less than it, that is always the same for a key and host.
func partOf(whole time.Duration, key, host string) time.Duration {
	sum := sha256.Sum256([]byte(key + "\x00" + host))
	var drawn uint64
	for _, b := range sum[:8] {
		drawn = drawn<<8 | uint64(b)
	}
	part, _ := bits.Mul64(uint64(whole), drawn)
	return time.Duration(part)
}

// saySplay tells the user about a long wait at a terminal, or with -v about any.
func (s *session) saySplay(part time.Duration) {
	c := s.Console
	if c.Interactive() && part >= noticeDelay {
		c = c.WithLevel(console.Info)
	}
	c.Say(console.Message{
		Level: console.Info, Event: console.EventSplay,
		Text: fmt.Sprintf("redlockrun asks for lock %q in %s, this host's part of --splay %s",
			s.config.Key, config.Rounded(part), config.Exact(s.config.Splay)),
		Fields: []console.Field{{Name: "splay_ms", Value: part.Milliseconds()}},
	})
}

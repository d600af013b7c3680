package lock

import (
	"math/rand/v2"
	"time"
)

// A Draw returns a random duration from [0, below), with below > 0. All randomness of a store
// comes from it. nil uses math/rand/v2; a test sets its own.
type Draw func(below time.Duration) time.Duration

// Below returns a duration from [0, below).
func (d Draw) Below(below time.Duration) time.Duration {
	if d == nil {
		return rand.N(below)
	}
	return d(below)
}

// Jitter returns a duration from [t/2, t], so that runs which were turned away together do not
// return together.
func (d Draw) Jitter(t time.Duration) time.Duration { return t - d.Below(t/2+1) }

package lock

import (
	"math/rand/v2"
	"time"
)

// A Draw draws a duration from [0, below), below being positive. It is where all that a
// store leaves to chance comes from. nil draws from math/rand/v2; a test sets its own.
type Draw func(below time.Duration) time.Duration

// Below draws from [0, below).
func (d Draw) Below(below time.Duration) time.Duration {
	if d == nil {
		return rand.N(below)
	}
	return d(below)
}

// Jitter draws from [t/2, t], so that those who were turned away together do not come
// again together.
func (d Draw) Jitter(t time.Duration) time.Duration { return t - d.Below(t/2+1) }

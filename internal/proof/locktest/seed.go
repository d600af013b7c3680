package locktest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// seedVar is the variable that repeats what a test has drawn.
const seedVar = "REDLOCKRUN_SEED"

// Seed returns what a test draws from: REDLOCKRUN_SEED, else a random number. A test that fails
// names its seed. The same seed draws the same, but the scheduler decides how it meets.
func Seed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(seedVar); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		Must(t, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat it: %s=%d", seedVar, seed)
		}
	})
	return seed
}

// Draw draws from [0, n), by the Seed.
func Draw(t *testing.T) func(n int) int {
	t.Helper()
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(Seed(t), 0))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
}

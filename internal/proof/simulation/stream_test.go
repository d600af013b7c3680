package simulation

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// A stream is what is left to chance in one place: a channel, a client, the plan. Each has
// its own, by the seed and its name, so that what one draws changes nothing of another.
type stream struct{ *rand.Rand }

func streamOf(seed uint64, name string, args ...any) stream {
	sum := digestOf(seed, fmt.Sprintf(name, args...))
	return stream{rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])))}
}

func digestOf(seed uint64, text string) [sha256.Size]byte {
	return sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), text...))
}

// between draws evenly from [low, high).
func (s stream) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(s.Int64N(int64(high-low)))
}

// spread draws from [low, high) so that each order of magnitude is as likely as another.
func (s stream) spread(low, high time.Duration) time.Duration {
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), s.Float64()))
}

func (s stream) chance(p float64) bool { return s.Float64() < p }

// pick draws one of several.
func pick[T any](s stream, of ...T) T { return of[s.IntN(len(of))] }

// drawOf is what the program itself leaves to chance, for one client. What is drawn at one
// instant depends on nothing but that instant: the goroutines of a client that wake up
// together, as those do that had asked the masters of a quorum, may draw in any order.
func drawOf(seed uint64, client string) func(time.Duration) time.Duration {
	return func(below time.Duration) time.Duration {
		sum := digestOf(seed, fmt.Sprint(client, " draws ", time.Now().UnixNano(), below))
		return time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(below))
	}
}

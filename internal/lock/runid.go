package lock

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/oklog/ulid/v2"
)

// runIDLen is the length of a run id: scripts compare it at a fixed offset.
const runIDLen = ulid.EncodedSize

// NewRunID is a fresh owner's token: a ULID. It is no secret, but its 80 random
// bits have to differ between processes, since the crons of a fleet start in the
// same millisecond: they are those of a generator that the kernel seeds for each process.
func NewRunID() string {
	return ulid.MustNew(ulid.Timestamp(time.Now()), seeded{}).String()
}

// seeded reads the generator of math/rand/v2, which every process has. crypto/rand
// would first set one up, for more than the rest of the id costs.
type seeded struct{}

func (seeded) Read(b []byte) (int, error) {
	var chunk [8]byte
	for i := 0; i < len(b); i += len(chunk) {
		binary.NativeEndian.PutUint64(chunk[:], rand.Uint64())
		copy(b[i:], chunk[:])
	}
	return len(b), nil
}

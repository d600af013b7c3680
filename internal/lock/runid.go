package lock

import (
	"crypto/rand"
	"time"

	"github.com/oklog/ulid/v2"
)

// RunIDLen is the length of a run id: scripts compare it at a fixed offset.
const RunIDLen = ulid.EncodedSize

// NewRunID is a fresh owner's token: a ULID whose 80 random bits come from the
// system, since the crons of a fleet start in the same millisecond.
func NewRunID() string {
	return ulid.MustNew(ulid.Timestamp(time.Now()), rand.Reader).String()
}

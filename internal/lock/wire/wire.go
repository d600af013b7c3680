// Package wire reads and writes the data in Redis: the names of the keys, the record of a lock, a
// pause, entries of the ledger, slots and waiters, and how long each of them lives. Releases of
// different age share it: see [Protocol].
//
// Any client may have written the data: a reader takes any text, and returns what is known of it.
package wire

import "time"

// How long what is written lives, by the server's clock.
const (
	// Remembered is how long the ledger, a job's name and the fence live after the last run. After that the fence
	// carries on by the clock.
	Remembered = 90 * 24 * time.Hour

	// SlotsRemembered is how long the slots live after the last run for one.
	SlotsRemembered = 15 * 24 * time.Hour

	// OutputRemembered is how long what commands printed lives after the last run that kept some.
	OutputRemembered = 15 * 24 * time.Hour

	// Unconfirmed is how long a hand-over is kept for its run, which has not confirmed it yet.
	Unconfirmed = 2 * time.Second

	// Untold is the same where the run could not be told: it looks by itself within so long.
	Untold = 6 * time.Second

	// Silent is how long a waiter may look at nothing, though it could: then it is passed over.
	Silent = 12 * time.Second

	// WaitersRemembered is how long a waiter that looks at nothing stays in line, and the line where no waiter looks.
	WaitersRemembered = time.Hour

	// Tombstone is how long an acquire that was given up without an answer may still be under way.
	Tombstone = time.Minute
)

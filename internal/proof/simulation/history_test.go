package simulation

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"time"
)

// A history is all that has happened in a world, as a digest, and its last words.
type history struct {
	sum    hash.Hash
	events int
	steps  int // requests that servers have carried out
	all    bool
	lines  []string
}

func newHistory(all bool) history { return history{sum: sha256.New(), all: all} }

// mostLines is how many of the last lines are kept, if not all are.
const mostLines = 60

func (h *history) note(at time.Duration, text string) {
	line := fmt.Sprintf("%14.6f %s", at.Seconds(), text)
	h.sum.Write([]byte(line))
	h.lines = append(h.lines, line)
	if !h.all && len(h.lines) > 2*mostLines {
		h.lines = append(h.lines[:0], h.lines[len(h.lines)-mostLines:]...)
	}
}

func (h *history) digest() string { return fmt.Sprintf("%x", h.sum.Sum(nil)[:12]) }

func (h *history) String() string { return strings.Join(h.lines, "\n") }

// Package console is how redlockrun speaks: a line for each message, on stderr alone,
// as text for people or as JSON for programs. Lines wait in a queue of bounded length, so
// that nothing is ever held up by whoever does not read them.
package console

import (
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// A Console says how to speak. Its zero value is of no use.
type Console struct {
	Level zerolog.Level // what matters less is not said
	JSON  bool          // else text
}

// Start returns a logger and the queue behind it, which hands each line to write.
func (c Console) Start(write func([]byte)) (zerolog.Logger, *Queue) {
	if !c.JSON {
		q := newQueue(plain, write)
		return zerolog.New(q).Level(c.Level), q
	}
	q := newQueue(escapeJSON, write)
	return zerolog.New(q).Level(c.Level).With().Timestamp().Logger(), q
}

// Watched reports whether somebody looks at what is said, without having asked
// for more of it or for less.
func Watched(log zerolog.Logger) bool {
	return log.GetLevel() == zerolog.WarnLevel && term.IsTerminal(syscall.Stderr)
}

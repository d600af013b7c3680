// Package console writes messages: a line each, on stderr alone, as text for people or as JSON for
// programs. Lines wait in a queue of bounded length, so a reader that stands still never delays
// the program.
package console

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"
)

// A Console writes messages. Copies of it share one queue. The zero Console writes nothing.
type Console struct {
	level   Level
	form    formatter
	queue   *queue
	context []Field // of each message
}

// A formatter turns a message, and the fields that it shares with others, into lines.
type formatter func(context []Field, m Message) []byte

// New returns a Console that writes messages of level and above, as text or as JSON, and hands
// each line to write. It costs nothing until the first message. From then on a goroutine calls
// write, which may block, until the process ends.
func New(level Level, json bool, write func(line []byte)) Console {
	form := textOf
	if json {
		form = jsonOf
	}
	return Console{level: level, form: form, queue: newQueue(form, write)}
}

// With returns a Console that adds fields to each message, before the message's own.
func (c Console) With(fields ...Field) Console {
	c.context = slices.Concat(c.context, fields)
	return c
}

// WithLevel returns a Console that writes messages of level and above.
func (c Console) WithLevel(level Level) Console {
	c.level = level
	return c
}

// Enabled reports whether messages of a level are written. If not, the caller need not build
// costly ones.
func (c Console) Enabled(level Level) bool { return c.queue != nil && level >= c.level }

// Say writes a message, unless its level is too low. It never waits.
func (c Console) Say(m Message) {
	if c.Enabled(m.Level) {
		c.queue.put(c.form(c.context, m))
	}
}

// Interactive reports whether a user watches on a terminal, and has asked for neither more nor
// fewer messages.
func (c Console) Interactive() bool {
	return c.queue != nil && c.level == Warning && term.IsTerminal(syscall.Stderr)
}

// Flush waits until all messages are written, or limit has passed.
func (c Console) Flush(limit time.Duration) {
	if c.queue != nil {
		c.queue.flush(limit)
	}
}

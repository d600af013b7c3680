// Package console is how redlockrun speaks: a line for each message, on stderr alone,
// as text for people or as JSON for programs. Lines wait in a queue of bounded length, so
// that nothing is ever held up by whoever does not read them.
package console

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"
)

// A Console says messages. Copies of it share one queue. The zero Console says nothing.
type Console struct {
	level   Level
	form    formatter
	queue   *queue
	context []Field // of each message
}

// A formatter makes lines of a message and the fields that it shares with others.
type formatter func(context []Field, m Message) []byte

// New returns a Console that says what matters at least as much as level, as text or as
// JSON, and hands each line to write. It costs nothing until there is something to say. From
// then on a goroutine calls write, which may block, until the process ends.
func New(level Level, json bool, write func(line []byte)) Console {
	form := textOf
	if json {
		form = jsonOf
	}
	return Console{level: level, form: form, queue: newQueue(form, write)}
}

// With returns a Console whose messages have fields, too, before their own.
func (c Console) With(fields ...Field) Console {
	c.context = slices.Concat(c.context, fields)
	return c
}

// WithLevel returns a Console that says what matters at least as much as level.
func (c Console) WithLevel(level Level) Console {
	c.level = level
	return c
}

// Enabled reports whether messages of a level are said. If not, those that are costly to put into
// words need not be.
func (c Console) Enabled(level Level) bool { return c.queue != nil && level >= c.level }

// Say says a message, or nothing if it does not matter enough. It never waits.
func (c Console) Say(m Message) {
	if c.Enabled(m.Level) {
		c.queue.put(c.form(c.context, m))
	}
}

// Interactive reports whether somebody looks at what is said, on a terminal, without having
// asked for more of it or for less.
func (c Console) Interactive() bool {
	return c.queue != nil && c.level == Warning && term.IsTerminal(syscall.Stderr)
}

// Flush waits until all that was said has been written, or limit has passed.
func (c Console) Flush(limit time.Duration) {
	if c.queue != nil {
		c.queue.flush(limit)
	}
}

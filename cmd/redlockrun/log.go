package main

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"redlockrun/internal/runner"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	// queued lines are more than a run has to say, even in an outage of hours.
	queued = 256

	// flushLimit bounds what a reader of stderr that stands still can cost at the end.
	flushLimit = 100 * time.Millisecond
)

// A stderrQueue writes lines to stderr from a goroutine of its own, so that a
// full or closed stderr never holds up a renewal. What does not fit is
// dropped and counted. The goroutine ends with the process, because nothing
// can end a write that blocks; flush waits for it as long as is sensible.
type stderrQueue struct {
	lines   func() chan queuedLine // made with the goroutine when it is first needed: most runs say nothing
	started atomic.Bool
	dropped atomic.Int64
	render  func([]byte) []byte
	write   func([]byte)
}

// A queuedLine is a line, or the wish to know when all before it are written.
type queuedLine struct {
	text    []byte
	written chan<- struct{}
}

func newStderrQueue(render func([]byte) []byte, write func([]byte)) *stderrQueue {
	q := &stderrQueue{render: render, write: write}
	q.lines = sync.OnceValue(func() chan queuedLine {
		lines := make(chan queuedLine, queued)
		go q.drain(lines)
		q.started.Store(true)
		return lines
	})
	return q
}

// Write queues one line; zerolog calls it with a whole line each time.
func (q *stderrQueue) Write(line []byte) (int, error) {
	select {
	case q.lines() <- queuedLine{text: q.render(line)}:
	default:
		q.dropped.Add(1)
	}
	return len(line), nil
}

func (q *stderrQueue) drain(lines <-chan queuedLine) {
	for line := range lines {
		if line.written != nil {
			close(line.written)
			continue
		}
		if n := q.dropped.Swap(0); n > 0 {
			q.write(q.render(droppedLine(n)))
		}
		q.write(line.text)
	}
}

func droppedLine(n int64) (line []byte) {
	log := zerolog.New(sliceWriter{&line})
	log.Warn().Str(eventField, eventDropped).Int64("dropped", n).Msg("stderr did not take all messages")
	return line
}

type sliceWriter struct{ to *[]byte }

func (w sliceWriter) Write(p []byte) (int, error) { *w.to = append(*w.to, p...); return len(p), nil }

// flush waits until all that was queued has been written, or limit has passed.
func (q *stderrQueue) flush(limit time.Duration) {
	if !q.started.Load() {
		return
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	written := make(chan struct{})
	select {
	case q.lines() <- queuedLine{written: written}:
	case <-timeout.C:
		return
	}
	select {
	case <-written:
	case <-timeout.C:
	}
}

// writeStderr writes to the descriptor itself: os.Stderr would end the process
// by SIGPIPE when nobody reads any more. What cannot be written is lost. A terminal
// that the command has would stop the whole job for it (stty tostop).
func writeStderr(line []byte) {
	for len(line) > 0 {
		var n int
		var err error
		runner.Unstoppable(func() { n, err = syscall.Write(syscall.Stderr, line) })
		switch err {
		case nil:
			line = line[n:]
		case syscall.EINTR:
		case syscall.EAGAIN: // somebody set the shared description non-blocking
			unix.Poll([]unix.PollFd{{Fd: int32(syscall.Stderr), Events: unix.POLLOUT}}, int(time.Second/time.Millisecond))
		default:
			return
		}
	}
}

// A logging is how redlockrun speaks.
type logging struct {
	level zerolog.Level
	json  bool
}

// start returns a logger and the queue behind it, which hands each line to write.
func (l logging) start(write func([]byte)) (zerolog.Logger, *stderrQueue) {
	if !l.json {
		q := newStderrQueue(plain, write)
		return zerolog.New(q).Level(l.level), q
	}
	q := newStderrQueue(escapeJSON, write)
	return zerolog.New(q).Level(l.level).With().Timestamp().Logger(), q
}

// watched reports whether somebody looks at what is said, without having asked
// for more of it or for less.
func watched(log zerolog.Logger) bool {
	return log.GetLevel() == zerolog.WarnLevel && term.IsTerminal(syscall.Stderr)
}

// logging reads the settings of the messages. What it returns can be used even
// if there is an error.
func (s sources) logging() (logging, error) {
	r := reading{sources: s}
	l := logging{level: r.level(), json: r.choice("log-format", "text", "json") == "json"}
	return l, r.err
}

func (r *reading) level() zerolog.Level {
	g := r.nearest("quiet", "verbose", "log-level")
	switch {
	case !g.said():
		return zerolog.WarnLevel
	case g.name == "quiet" && r.isSwitch(g):
		return zerolog.ErrorLevel
	case g.name == "verbose":
		return r.verbosity(g)
	}
	return levels[r.choice("log-level", "warn", "debug", "info", "error")]
}

var levels = map[string]zerolog.Level{
	"debug": zerolog.DebugLevel, "info": zerolog.InfoLevel, "warn": zerolog.WarnLevel, "error": zerolog.ErrorLevel,
}

// verbosity is info for one -v and debug for more; a variable says 1 or 2.
func (r *reading) verbosity(g given) zerolog.Level {
	if len(g.values) > 1 || g.last() == "2" {
		return zerolog.DebugLevel
	}
	r.isSwitch(g)
	return zerolog.InfoLevel
}

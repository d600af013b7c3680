package console

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// queued lines are more than a run has to say, even in an outage of hours.
const queued = 256

// A Queue writes lines to stderr from a goroutine of its own, so that a
// full or closed stderr never holds up a renewal. What does not fit is
// dropped and counted. The goroutine ends with the process, because nothing
// can end a write that blocks; Flush waits for it as long as is sensible.
type Queue struct {
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

func newQueue(render func([]byte) []byte, write func([]byte)) *Queue {
	q := &Queue{render: render, write: write}
	q.lines = sync.OnceValue(func() chan queuedLine {
		lines := make(chan queuedLine, queued)
		go q.drain(lines)
		q.started.Store(true)
		return lines
	})
	return q
}

// Write queues one line; zerolog calls it with a whole line each time.
func (q *Queue) Write(line []byte) (int, error) {
	select {
	case q.lines() <- queuedLine{text: q.render(line)}:
	default:
		q.dropped.Add(1)
	}
	return len(line), nil
}

func (q *Queue) drain(lines <-chan queuedLine) {
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
	log.Warn().Str(EventField, EventDropped).Int64("dropped", n).Msg("stderr did not take all messages")
	return line
}

type sliceWriter struct{ to *[]byte }

func (w sliceWriter) Write(p []byte) (int, error) { *w.to = append(*w.to, p...); return len(p), nil }

// Flush waits until all that was queued has been written, or limit has passed.
func (q *Queue) Flush(limit time.Duration) {
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

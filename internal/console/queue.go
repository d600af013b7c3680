package console

import (
	"sync"
	"sync/atomic"
	"time"
)

// queueLength is more than the messages of a run, even in an outage of hours.
const queueLength = 256

// A queue writes lines from its own goroutine, so that a full or closed stderr never delays a
// renewal. It drops and counts what does not fit. The goroutine ends with the process, because
// nothing can end a write that blocks; flush waits for it within limits.
type queue struct {
	lines   func() chan queuedLine // made with the goroutine when it is first needed: most runs say nothing
	started atomic.Bool
	dropped atomic.Int64
	form    formatter // of what the queue says itself
	write   func([]byte)
}

// A queuedLine is a line, or a request to know when all earlier lines are written.
type queuedLine struct {
	text    []byte
	written chan<- struct{}
}

func newQueue(form formatter, write func([]byte)) *queue {
	q := &queue{form: form, write: write}
	q.lines = sync.OnceValue(func() chan queuedLine {
		lines := make(chan queuedLine, queueLength)
		go q.drain(lines)
		q.started.Store(true)
		return lines
	})
	return q
}

func (q *queue) put(line []byte) {
	select {
	case q.lines() <- queuedLine{text: line}:
	default:
		q.dropped.Add(1)
	}
}

func (q *queue) drain(lines <-chan queuedLine) {
	for line := range lines {
		if line.written != nil {
			close(line.written)
			continue
		}
		if n := q.dropped.Swap(0); n > 0 {
			q.write(q.form(nil, Message{
				Level: Warning, Event: EventDropped, Text: "stderr did not take all messages",
				Fields: []Field{{Name: "dropped", Value: n, InText: true}},
			}))
		}
		q.write(line.text)
	}
}

// flush waits until all queued lines are written, or limit has passed.
func (q *queue) flush(limit time.Duration) {
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

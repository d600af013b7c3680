package session

import (
	"fmt"
	"sync"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
)

// noticeDelay is when a user at a terminal learns about the wait.
const noticeDelay = 2 * time.Second

// A waitReporter reports the wait: with -v at once, and each new position in the queue; without -v
// once, and only on a terminal.
type waitReporter struct {
	s     *session
	watch *time.Timer // nil: no user at a terminal

	mu    sync.Mutex
	last  *lock.HeldError
	place int // the last that was reported
}

// busy handles each answer that the lock is busy.
func (w *waitReporter) busy(e *lock.HeldError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, paused := w.last == nil, w.last != nil && w.last.Pause == nil && e.Pause != nil
	w.last = e
	switch {
	case e.Rejoined:
		w.s.Warn(console.EventRejoined, w.s.rejoined(e), explain.HolderFields(e)...)
	case first:
		w.say(w.s.Console, e, w.s.waitingFor(e))
		w.sayLater()
	case paused:
		w.say(w.s.Console, e, w.s.waitingFor(e))
	case e.Position > 0 && e.Position != w.place:
		w.say(w.s.Console, e, fmt.Sprintf("waiting for lock %q: %s", w.s.config.Key, queuePosition(e)))
	}
	w.place = e.Position
}

// rejoined says that the run has lost its position, and why if that is known.
func (s *session) rejoined(e *lock.HeldError) string {
	text := "the place in the queue of lock %q is lost: now %s (%s)"
	if e.Missed {
		text = "lock %q passed on while Redis was unreachable: the place in the queue is lost, now %s (%s)"
	}
	return fmt.Sprintf(text, s.config.Key, queuePosition(e), s.about.Where())
}

func (w *waitReporter) say(c console.Console, e *lock.HeldError, text string) {
	c.Say(console.Message{Level: console.Info, Event: console.EventWaiting, Text: text,
		Fields: explain.HolderFields(e)})
}

// sayLater tells a user at a terminal after a while.
func (w *waitReporter) sayLater() {
	if !w.s.Console.Interactive() {
		return
	}
	loud := w.s.Console.WithLevel(console.Info)
	w.watch = time.AfterFunc(noticeDelay, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		text := w.s.waitingFor(w.last)
		if w.last.Position > 0 {
			text += ": " + queuePosition(w.last)
		}
		w.say(loud, w.last, text)
	})
}

// close ends the reports.
func (w *waitReporter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watch != nil {
		w.watch.Stop()
	}
}

func (s *session) waitingFor(e *lock.HeldError) string {
	if e.Pause != nil {
		return explain.DescribePausedJob(e.Name, e.Pause) + "; waiting for its end (" + s.about.Where() + ")"
	}
	return e.Error() + explain.HeldSince(e.Holder) + explain.TimeLeft(e.TTL) +
		"; waiting for it (" + s.about.Where() + ")"
}

// queuePosition returns third in the queue behind web-2:4711.
func queuePosition(e *lock.HeldError) string {
	if e.Pause != nil {
		return ordinal(e.Position) + " in the queue behind the pause"
	}
	return ordinal(e.Position) + " in the queue behind " + e.Holder.Process()
}

var ordinals = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
	"tenth"}

func ordinal(n int) string {
	if n < len(ordinals) {
		return ordinals[n]
	}
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

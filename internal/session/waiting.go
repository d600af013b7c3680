package session

import (
	"fmt"
	"sync"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
)

// unasked is when somebody who looks at a terminal is told what is waited for.
const unasked = 2 * time.Second

// A waiting says what is waited for: with -v at once, and each new place in
// the line; without, once, and only on a terminal.
type waiting struct {
	s     *session
	watch *time.Timer // nil: nobody looks

	mu    sync.Mutex
	last  *lock.HeldError
	place int // the last that was told
}

func (s *session) newWaiting() *waiting { return &waiting{s: s} }

// busy is told each answer that the lock is busy.
func (w *waiting) busy(e *lock.HeldError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, paused := w.last == nil, w.last != nil && w.last.Pause == nil && e.Pause != nil
	w.last = e
	switch {
	case e.Rejoined:
		w.s.Warn(console.EventRejoined, w.s.rejoined(e), explain.OfHolder(e)...)
	case first:
		w.tell(w.s.Console, e, w.s.waitingFor(e))
		w.tellLater()
	case paused:
		w.tell(w.s.Console, e, w.s.waitingFor(e))
	case e.Position > 0 && e.Position != w.place:
		w.tell(w.s.Console, e, fmt.Sprintf("waiting for lock %q: %s", w.s.config.Key, inLine(e)))
	}
	w.place = e.Position
}

// rejoined says that a place is lost, and why if that is known.
func (s *session) rejoined(e *lock.HeldError) string {
	text := "the place in the line of lock %q is lost: %s (%s)"
	if e.Missed {
		text = "lock %q was handed over while Redis could not be reached: the place in the line is lost, %s (%s)"
	}
	return fmt.Sprintf(text, s.config.Key, inLine(e), s.about.Where())
}

func (w *waiting) tell(c console.Console, e *lock.HeldError, text string) {
	c.Say(console.Message{Level: console.Info, Event: console.EventWaiting, Text: text, Fields: explain.OfHolder(e)})
}

// tellLater lets a terminal know after a while, unless it has been told.
func (w *waiting) tellLater() {
	if !w.s.Console.Watched() {
		return
	}
	loud := w.s.Console.At(console.Info)
	w.watch = time.AfterFunc(unasked, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		text := w.s.waitingFor(w.last)
		if w.last.Position > 0 {
			text += ": " + inLine(w.last)
		}
		w.tell(loud, w.last, text)
	})
}

// over ends the telling.
func (w *waiting) over() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watch != nil {
		w.watch.Stop()
	}
}

func (s *session) waitingFor(e *lock.HeldError) string {
	if e.Pause != nil {
		return explain.PausedJob(e.Name, e.Pause) + "; waiting for its end (" + s.about.Where() + ")"
	}
	return e.Error() + explain.HeldSince(e.Holder) + explain.TimeLeft(e.TTL) + "; waiting for it (" + s.about.Where() + ")"
}

// inLine is third in line behind web-2:4711.
func inLine(e *lock.HeldError) string {
	if e.Pause != nil {
		return ordinal(e.Position) + " in line behind the pause"
	}
	return ordinal(e.Position) + " in line behind " + e.Holder.Process()
}

var ordinals = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

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

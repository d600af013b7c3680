package operator

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/screen"
)

// minWatchInterval keeps --every from asking the server in a tight loop.
const minWatchInterval = 100 * time.Millisecond

// A watch shows jobs again and again.
type watch struct {
	*Operation
	every time.Duration
	read  func(context.Context) (observed[[]lock.Job], error)
	lines func(jobs []lock.Job, d console.Display, room int) []string
}

// run draws the jobs on a terminal, unless plain asks for lines there, too.
func (w *watch) run(plain bool) error {
	jobs, err := interrupt.Run(w.Signals, w.read)
	if err != nil {
		return unlessWanted(err)
	}
	if kind, _ := w.Env("TERM"); plain || kind == "dumb" || !screen.On(w.Out) {
		return repetition[observed[[]lock.Job]]{every: w.every, read: w.read, show: w.blocks()}.run(w.Signals, jobs)
	}
	s, err := screen.Open(os.Stdin, w.Out)
	if err != nil {
		return err
	}
	defer s.Close()
	show := func(jobs observed[[]lock.Job], away error) error { w.draw(s, jobs, away); return nil }
	return repetition[observed[[]lock.Job]]{w.every, w.read, show, s.Keys(), s.Changed()}.run(w.Signals, jobs)
}

// blocks prints the jobs each time, with an empty line between, and reports an outage of the store
// once, and its end.
func (w *watch) blocks() func(observed[[]lock.Job], error) error {
	first, outage, said := true, outageReporter{Operation: w.Operation}, []string(nil)
	return func(jobs observed[[]lock.Job], away error) error {
		if outage.report(away); away != nil {
			return nil
		}
		if missing := append(jobs.silent, unread(jobs.value)...); !slices.Equal(missing, said) {
			w.warnAll(missing)
			said = missing
		}
		lines := w.lines(jobs.value, w.display(), 0)
		if !first && len(lines) > 1 {
			lines = slices.Insert(lines, 0, "")
		}
		first = false
		return w.print(lines...)
	}
}

// An outageReporter reports an outage once, and its end.
type outageReporter struct {
	*Operation
	reported bool
}

func (o *outageReporter) report(away error) {
	switch {
	case away != nil && !o.reported:
		text := o.outageText(away)
		o.Console.Say(console.Message{Level: console.Warning, Event: console.EventUnavailable, Text: text})
	case away == nil && o.reported:
		o.note("the store answers again (" + o.About.Where() + ")")
	}
	o.reported = away != nil
}

// outageText says why the store does not answer.
func (o *Operation) outageText(away error) string {
	return "trying again: " + explain.Of(away, *o.About).Message
}

// draw shows as many lines as fit.
func (w *watch) draw(s *screen.Screen, jobs observed[[]lock.Job], away error) {
	columns, rows := s.Size()
	d := w.display()
	d.Width = columns
	title := fmt.Sprintf("%s, every %s; q ends", w.About.Place, config.Exact(w.every))
	if len(jobs.value) > 0 {
		title = jobs.value[0].Now.In(time.Local).Format(time.TimeOnly) + "  " + title
	}
	page := appendText(nil, title, d, console.StyleFaint)
	if away != nil {
		page = appendText(page, w.outageText(away), d, console.StyleBad)
	}
	for _, missing := range append(jobs.silent, unread(jobs.value)...) {
		page = appendText(page, missing, d, console.StyleWarning)
	}
	lines := w.lines(jobs.value, d, max(1, rows-len(page)))
	if len(lines) == 0 {
		lines = []string{d.Paint("no such job is known", console.StyleFaint)}
	}
	page = append(page, lines...)
	if more := len(page) - rows; more > 0 {
		page = append(page[:rows-1], console.Cut(fmt.Sprintf("%d more lines", more+1), columns))
	}
	s.Draw(page)
}

// appendText adds a text to a page, on as many lines as it needs.
func appendText(page []string, text string, d console.Display, tone console.Style) []string {
	for _, part := range console.Fold(lock.Escaped(text), d.Width) {
		page = append(page, d.Paint(part, tone))
	}
	return page
}

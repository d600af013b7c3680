package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

const (
	lastRuns    = 5  // are shown of a job
	lastLengths = 50 // likewise
)

// Page describes one job in full, as lines for a display, with the times of a zone. A text that is
// too long for a line goes on in the next.
func Page(j lock.Job, zone *time.Location, d console.Display) []string {
	p := page{job: j, zone: zone, table: console.Table{Columns: []console.Column{{MinWidth: nameWidth}, {}}},
		room: d.Width}
	p.say("job", lock.Escaped(j.Name))
	p.row("state", StateOf(j))
	if len(j.Holders) > 0 {
		p.permits()
	} else {
		p.lock()
	}
	p.policy()
	p.expected()
	p.line()
	p.ledger()
	lines := p.table.Lines(d)
	if runs := Complete(j, j.Runs); len(runs) > 0 {
		shown := runs[:min(len(runs), lastRuns)]
		lines = append(append(lines, ""), History(shown, Longest(shown), zone).Lines(d)...)
	}
	return lines
}

// A page is one being written: what is said, beside its name.
type page struct {
	job   lock.Job
	zone  *time.Location
	table console.Table
	room  int
}

const nameWidth = 8

func (p *page) row(name string, c console.Cell) {
	p.table.Rows = append(p.table.Rows, []console.Cell{{Text: name, Style: console.StyleBold}, c})
}

// say adds a text, unless it is empty, on as many lines as it needs.
func (p *page) say(name, text string) {
	for _, part := range console.Fold(text, p.room-nameWidth-2) {
		p.row(name, console.Cell{Text: part})
		name = ""
	}
}

func (p *page) lock() {
	j, run := p.job, Subject(p.job)
	switch {
	case run.Run != "":
		p.say("holder", who(run))
		p.say("run", lock.Escaped(run.Run))
	case j.Holder.Foreign != "":
		p.say("holder", j.Holder.String())
	}
	if run.Fence > 0 {
		p.say("fence", fmt.Sprint(run.Fence))
	}
	if d, ok := Since(run.At, j.Now); ok {
		p.say("since", fmt.Sprintf("%s, for %s", Zoned(run.At, p.zone), Elapsed(d)))
	}
	if d, ok := Since(j.Holder.Ended, j.Now); ok {
		p.say("ended", fmt.Sprintf("%s, %s; the rest of its --min-hold is left", Zoned(j.Holder.Ended, p.zone), Ago(d)))
	}
	switch {
	case Busy(j) && j.Left < 0:
		p.say("lease", "it never expires by itself")
	case Busy(j) && j.Left > 0:
		p.say("lease", Elapsed(j.Left)+" left")
	}
}

// permits adds a line for each run that has permits.
func (p *page) permits() {
	name := "permits"
	for _, h := range p.job.Holders {
		text := permitsOf(h) + ": " + h.Holder.String()
		if h.Run != "" {
			text += ", run " + lock.Escaped(h.Run)
		}
		if d, ok := Since(h.At, p.job.Now); ok {
			text += ", for " + Elapsed(d)
		}
		if h.Left < 0 {
			text += ", the lease never ends"
		} else if h.Left > 0 {
			text += ", " + Elapsed(h.Left) + " of the lease left"
		}
		if h.State != lock.StateRunning {
			text += ", " + string(h.State)
		}
		p.say(name, text)
		name = ""
	}
}

// permitsOf returns 1, 3 for a run that has these permits.
func permitsOf(h lock.PermitHolder) string {
	if len(h.Numbers) == 0 {
		return "all"
	}
	texts := make([]string, len(h.Numbers))
	for i, n := range h.Numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}

// who is web-3:4121 (alice, php), as far as it is known.
func who(run lock.Entry) string {
	text := lock.Escaped(run.Host)
	if run.PID > 0 {
		text += fmt.Sprintf(":%d", run.PID)
	}
	if known := strings.Trim(lock.Escaped(run.User)+", "+lock.Escaped(run.Command), ", "); known != "" {
		text += " (" + known + ")"
	}
	return text
}

func (p *page) policy() {
	if m := p.job.Pause; m != nil {
		p.say("paused", pausedBy(m, p.zone))
	}
	stop, last := p.job.Stopped, p.job.LastEnd
	begunSince := Subject(p.job).At.After(stop.Ended) || last.At.After(stop.Ended)
	if stop.Act != "" && !begunSince {
		p.say("stopped", acted(Actor(stop), stop.Ended, stop.Reason, p.zone))
	}
	slot := slotOf(p.job)
	if slot == "" {
		return
	}
	text := lock.Escaped(slot)
	tries, open := failed(p.job, slot)
	switch {
	case !open:
		text += closedBy(p.job, slot)
	case len(tries) == 1:
		text += "; one run has failed: " + try(tries[0])
	case len(tries) > 1:
		text += fmt.Sprintf("; %d runs have failed: %s", len(tries), strings.Join(each(tries, try), ", "))
	}
	p.say("slot", text)
}

// expected says how old the last success may become, and when it will be too old.
func (p *page) expected() {
	j := p.job
	if j.MaxAge <= 0 {
		return
	}
	text := "a success at least every " + Took(j.MaxAge)
	due, known := j.Due()
	switch late := j.Now.Sub(due); {
	case !known && j.Paused():
		text += "; it is paused"
	case !known:
		text += "; since when is not known"
	case late > 0:
		text += fmt.Sprintf("; overdue by %s, since %s", Elapsed(late), Zoned(due, p.zone))
	default:
		text += fmt.Sprintf("; due in %s, at %s", Elapsed(-late), Zoned(due, p.zone))
	}
	p.say("expected", text)
}

func each[T any](all []T, text func(T) string) (texts []string) {
	for _, one := range all {
		texts = append(texts, text(one))
	}
	return texts
}

func try(t lock.Try) string {
	return strings.TrimSpace(lock.Escaped(t.Host) + " " +
		strings.TrimPrefix(EndOf(lock.Entry{End: t.End, Status: t.Status}).Text, "-"))
}

// closedBy names the run that did the work of a slot.
func closedBy(j lock.Job, slot string) string {
	for _, s := range j.Slots {
		if s.Name == slot && s.Closed {
			text := "; done by " + lock.Escaped(s.By.Host)
			if d, ok := Since(s.By.Ended, j.Now); ok {
				text += ", " + Ago(d)
			}
			return text
		}
	}
	return ""
}

func pausedBy(m *lock.PauseMark, zone *time.Location) string {
	text := acted(lock.Escaped(m.By), m.Since, "", zone)
	if m.Until.IsZero() {
		text += ", for ever"
	} else {
		text += ", until " + Zoned(m.Until, zone)
	}
	if m.Reason != "" {
		text += ": " + lock.Escaped(m.Reason)
	}
	return text
}

// acted names the operator of an act, its time and its reason.
func acted(who string, at time.Time, why string, zone *time.Location) string {
	text := "by " + who
	if !at.IsZero() {
		text += " at " + Zoned(at, zone)
	}
	if why != "" {
		text += ": " + lock.Escaped(why)
	}
	return text
}

func (p *page) line() {
	p.say("waiting", fmt.Sprint(p.job.Waiting))
	for i, w := range p.job.Waiters {
		text := fmt.Sprintf("%d. %s", i+1, who(lock.Entry{Host: w.Host, PID: w.PID}))
		if d, ok := Since(w.Since, p.job.Now); ok {
			text += ", for " + Elapsed(d)
		}
		if w.Slot != "" {
			text += ", for the slot " + lock.Escaped(w.Slot)
		}
		p.say("", text)
	}
	if more := p.job.Waiting - len(p.job.Waiters); more > 0 && len(p.job.Waiters) > 0 {
		p.say("", fmt.Sprintf("and %d more", more))
	}
}

func (p *page) ledger() {
	j := p.job
	if j.LastEnd.Run != "" {
		p.say("last", EndText(j.LastEnd, j.Now))
	}
	if tail, ok := tailOf(j); ok {
		name := "printed"
		for line := range strings.Lines(Readable([]byte(tail))) {
			p.say(name, strings.ReplaceAll(strings.TrimRight(line, " \n"), "\t", " "))
			name = ""
		}
	}
	if j.LastSuccess.Run != "" && j.LastSuccess.Run != j.LastEnd.Run {
		p.say("good", EndText(j.LastSuccess, j.Now))
	}
	if text := Average(j); text != "" {
		p.say("average", text)
	}
	if line := []rune(sparkline(j.Runs[:min(len(j.Runs), lastLengths)])); len(line) > 0 {
		if room := p.room - nameWidth - 2; p.room > 0 && room < len(line) {
			line = line[len(line)-max(0, room):]
		}
		p.say("lengths", string(line))
	}
}

func EndText(e lock.Entry, now time.Time) string {
	text := EndOf(e).Text
	if e.Host != "" {
		text += " on " + lock.Escaped(e.Host)
	}
	if d, ok := Since(e.Ended, now); ok {
		text += ", " + Ago(d)
	}
	return text
}

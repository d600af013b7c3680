package report

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// Jobs is a line for each job.
func Jobs(jobs []lock.Job) console.Table {
	t := console.Table{FixedColumns: 2}
	for _, name := range []string{"JOB", "STATE", "HOST", "FOR", "LEASE", "WAIT", "LAST", "ENDED", "AVERAGE"} {
		t.Columns = append(t.Columns, console.Column{Name: name})
	}
	for _, j := range jobs {
		t.Rows = append(t.Rows, []console.Cell{
			cell(lock.Escaped(j.Name), console.StylePlain), StateOf(j),
			cell(lock.Escaped(Subject(j).Host), console.StylePlain),
			cell(StateAge(j), console.StylePlain), LeaseOf(j), cell(strconv.Itoa(j.Waiting), console.StylePlain),
			EndOf(j.LastEnd), cell(ended(j), console.StylePlain), cell(Average(j), console.StylePlain),
		})
	}
	return t
}

// JobLines returns the table of jobs, which stand worst first. If it needs more than so many lines, the last jobs are
// counted in place of told; 0: there is no limit.
func JobLines(jobs []lock.Job, d console.Display, room int) []string {
	lines := Jobs(jobs).Lines(d)
	if room <= 0 || len(lines) <= room {
		return lines
	}
	kept := room - 1 // the head among them
	text, bad := Rest(jobs[max(0, kept-1):])
	style := console.StyleFaint
	if bad {
		style = console.StyleBad
	}
	if d.Width > 0 {
		text = console.Cut(text, d.Width)
	}
	return append(lines[:kept], d.Paint(text, style))
}

func StateOf(j lock.Job) console.Cell {
	tones := map[lock.State]console.Style{
		lock.StateRunning: console.StyleGood, lock.StateIdle: console.StyleFaint,
		lock.StatePaused:   console.StyleWarning,
		lock.StateSilent:   console.StyleWarning,
		lock.StateVanished: console.StyleBad, lock.StateStuck: console.StyleBad, lock.StateForeign: console.StyleBad,
	}
	text, tone := string(j.State), tones[j.State]
	if held, of := j.Taken(); of > 0 {
		text = fmt.Sprintf("%d/%d %s", held, of, text)
	}
	switch {
	case j.Overdue() && j.State == lock.StateIdle:
		text, tone = overdue, console.StyleBad
	case j.Overdue() && Busy(j):
		text, tone = text+", "+overdue, console.StyleBad
	case unseen(j):
		text = neverSeen
	}
	if j.Pause != nil && Busy(j) { // no other run starts after it
		text, tone = text+", paused", console.StyleWarning
	}
	return cell(text, tone)
}

// overdue is in place of idle, and behind what else the job is doing.
const overdue = "overdue"

// StateAge returns for how long the job has been in its state.
func StateAge(j lock.Job) string {
	from := Subject(j).At
	if j.State == lock.StateEnded {
		from = j.Holder.Ended
	}
	if d, ok := Since(from, j.Now); ok {
		return Elapsed(d)
	}
	return ""
}

func LeaseOf(j lock.Job) console.Cell {
	switch {
	case !Busy(j), j.Left == 0:
		return NotKnown
	case j.Left < 0:
		return cell("no end", console.StyleBad)
	}
	return cell(Elapsed(j.Left), console.StylePlain)
}

func ended(j lock.Job) string {
	if d, ok := Since(j.LastEnd.Ended, j.Now); ok {
		return Ago(d)
	}
	return ""
}

func Average(j lock.Job) string {
	if j.Mean <= 0 {
		return ""
	}
	return Took(j.Mean)
}

// EndOf is how a run ended, with its status where that says more.
func EndOf(e lock.Entry) console.Cell {
	text, tone := lock.Escaped(string(e.End)), console.StyleBad
	switch e.End {
	case lock.EndOk:
		tone = console.StylePlain
	case lock.EndSignal:
		text = "killed" + signal(e.Status)
	case lock.EndFailed, lock.EndStopped, lock.EndUnstarted:
		if e.Status > 0 {
			text += " " + strconv.Itoa(e.Status)
		}
	}
	if e.End != "" && e.Lost && e.End != lock.EndLost {
		text += ", lost"
	}
	return cell(text, tone)
}

// signals are those that have one number wherever there are signals.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT",
	8: "SIGFPE",
	9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}

// signal is which signal an exit status tells of: " (SIGKILL)" for 137.
func signal(status int) string {
	n := status - 128
	if n <= 0 {
		return ""
	}
	return " (" + cmp.Or(signals[n], "signal "+strconv.Itoa(n)) + ")"
}

// RunTime returns how long a run took; ok is false if that is unknown, as for a vanished run.
func RunTime(e lock.Entry) (d time.Duration, ok bool) {
	known := e.End != "" && e.End != lock.EndVanished && e.End != lock.EndUnlocked && !e.At.IsZero() &&
		!e.Ended.IsZero()
	return max(0, e.Ended.Sub(e.At)), known
}

// WaitTime is how long a run waited for the lock.
func WaitTime(e lock.Entry) (d time.Duration, ok bool) {
	return max(0, e.At.Sub(e.Asked)), !e.At.IsZero() && !e.Asked.IsZero()
}

package report

import (
	"cmp"
	"strconv"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// Jobs is a line for each job.
func Jobs(jobs []lock.Job) console.Table {
	t := console.Table{Keep: 2}
	for _, name := range []string{"JOB", "STATE", "HOST", "FOR", "LEASE", "WAIT", "LAST", "ENDED", "AVERAGE"} {
		t.Columns = append(t.Columns, console.Column{Name: name})
	}
	for _, j := range jobs {
		t.Rows = append(t.Rows, []console.Cell{
			cell(lock.Plain(j.Name), console.Neutral), stateOf(j), cell(lock.Plain(subject(j).Host), console.Neutral),
			cell(lasting(j), console.Neutral), lease(j), cell(strconv.Itoa(j.Waiting), console.Neutral),
			end(j.Last), cell(ended(j), console.Neutral), cell(mean(j), console.Neutral),
		})
	}
	return t
}

func stateOf(j lock.Job) console.Cell {
	tones := map[lock.State]console.Tone{
		lock.Running: console.Fine, lock.Idle: console.Faint, lock.PausedJob: console.Odd, lock.Silent: console.Odd,
		lock.Gone: console.Wrong, lock.Stuck: console.Wrong, lock.Foreign: console.Wrong,
	}
	text, tone := string(j.State), tones[j.State]
	if unseen(j) {
		text = neverSeen
	}
	if j.Pause != nil && busy(j) { // nobody else will start after it
		text, tone = text+", paused", console.Odd
	}
	return cell(text, tone)
}

// lasting is for how long it has been as it is.
func lasting(j lock.Job) string {
	from := subject(j).At
	if j.State == lock.Ended {
		from = j.Holder.Ended
	}
	if d, ok := since(from, j.Now); ok {
		return whole(d)
	}
	return ""
}

func lease(j lock.Job) console.Cell {
	switch {
	case !busy(j), j.Left == 0:
		return unknown
	case j.Left < 0:
		return cell("no end", console.Wrong)
	}
	return cell(whole(j.Left), console.Neutral)
}

func ended(j lock.Job) string {
	if d, ok := since(j.Last.Ended, j.Now); ok {
		return ago(d)
	}
	return ""
}

func mean(j lock.Job) string {
	if j.Mean <= 0 {
		return ""
	}
	return length(j.Mean)
}

// end is how a run ended, with its status where that says more.
func end(e lock.Entry) console.Cell {
	text, tone := lock.Plain(string(e.How)), console.Wrong
	switch e.How {
	case lock.Ok:
		tone = console.Neutral
	case lock.Signal:
		text = "killed" + signal(e.Status)
	case lock.Failed, lock.Stopped, lock.Unstarted:
		if e.Status > 0 {
			text += " " + strconv.Itoa(e.Status)
		}
	}
	if e.How != "" && e.Lost && e.How != lock.Lost {
		text += ", lost"
	}
	return cell(text, tone)
}

// signals are those that have one number wherever there are signals.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE",
	9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}

// signal is which signal an exit status tells of: " (SIGKILL)" for 137.
func signal(status int) string {
	n := status - 128
	if n <= 0 {
		return ""
	}
	return " (" + cmp.Or(signals[n], "signal "+strconv.Itoa(n)) + ")"
}

// ran is how long a run took; ok is false if nobody knows, as of one that has vanished.
func ran(e lock.Entry) (d time.Duration, ok bool) {
	known := e.How != "" && e.How != lock.Vanished && e.How != lock.Unlocked && !e.At.IsZero() && !e.Ended.IsZero()
	return max(0, e.Ended.Sub(e.At)), known
}

// waited is how long a run waited for the lock.
func waited(e lock.Entry) (d time.Duration, ok bool) {
	return max(0, e.At.Sub(e.Asked)), !e.At.IsZero() && !e.Asked.IsZero()
}

package operator

import (
	"errors"
	"fmt"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"

	"github.com/spf13/cobra"
)

var pauseTexts = Texts{
	Does: "keeps jobs from starting, on all hosts",
	More: `. Running jobs
continue, and waiters keep their place in the queue. A new run ends with 75 (-E), waits (--wait),
or ignores the pause (--ignore-pause).`,
	Calls: `  redlockrun pause [flags] NAME...
  redlockrun pause [flags] --match 'PATTERN'
  redlockrun pause [flags] --all`,
	Notes: "An existing pause stays as it is.",
	Examples: `  redlockrun pause backup --for 2h --why 'the disk is being replaced'
  redlockrun pause --match 'report-*' --for forever

a deploy during which no job starts; the script also resumes after Ctrl-C:
  trap 'redlockrun resume --all --why deploy' EXIT
  trap 'exit 130' HUP INT TERM
  redlockrun pause --all --for 1h --wait 10m --why deploy && deploy`,
}

// dayPaused is the default length of a pause.
const dayPaused = 24 * time.Hour

func definePause(c *Command, o *Operation) {
	c.Texts = pauseTexts
	c.Operands = config.KindJob
	var (
		meant jobsMeant
		why   string
		json  bool
		wait  limit
	)
	length := limit(dayPaused)
	meant.define(c, "pause all listed jobs: those that have run or were paused")
	c.limit(&length, "for", "the length of the pause (24h); forever lasts until resume")
	c.text(&why, "why", config.KindText, "the reason, shown to runs that are refused")
	c.limit(&wait, "wait", "wait up to D until running jobs have ended, else end with 75")
	c.toggle(&json, "json", "print JSON, one object per line")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		if length == 0 {
			return config.Usagef("--for 0 pauses nothing").Hint("forever has no end")
		}
		names, err := chosen(o, "pause", &meant, operands, why)
		if err != nil {
			return err
		}
		change := lock.Change{Act: lock.ActPause, Reason: why, For: time.Duration(length)}
		w := &changing{command: "pause", json: json, say: reportPaused, change: change}
		made, err := w.make(o, names)
		if err == nil {
			err = o.awaitIdle(namesOf(made), time.Duration(wait), isBusy)
		} else if !errors.As(err, new(*runner.SignalError)) {
			return err
		}
		if err != nil {
			o.stayPaused(&meant, made, why)
		}
		return err
	}
}

// stayPaused says which jobs are still paused when the command has ended early, and how to resume
// them.
func (o *Operation) stayPaused(meant *jobsMeant, made []madeChange, why string) {
	var ours []string
	var until time.Time
	ending := explain.CommandLine("resume")
	for _, m := range made {
		p := pauseOrNone(m.ChangeResult)
		if m.Done || meant.listed() && why != "" && p.Reason == why {
			ours, until = append(ours, m.name), p.Until
		}
	}
	switch {
	case len(ours) == 0:
		return
	case meant.listed() && why != "":
		ending += meant.words() + " --why " + explain.ShellWord(why)
	case meant.listed() && len(ours) == len(made):
		ending += meant.words()
	default:
		ending = explain.CommandLine("resume", ours...)
	}
	text := fmt.Sprintf("%d jobs stay paused ", len(ours))
	if len(ours) == 1 {
		text = fmt.Sprintf("%q stays paused ", ours[0])
	}
	o.Console.Say(console.Message{
		Level: console.Warning, Event: console.EventPaused, Text: text + explain.DescribeUntil(until),
		Hints: []string{ending + " ends the pause"},
	})
}

// chosen returns the chosen jobs, once all words and settings are valid.
func chosen(o *Operation, command string, meant *jobsMeant, operands []string, why string) ([]string, error) {
	if err := meant.check(command, operands); err != nil {
		return nil, err
	}
	if err := config.CheckReason(why); err != nil {
		return nil, err
	}
	if _, err := o.operator(command); err != nil {
		return nil, err
	}
	if _, err := o.inspector(operands...); err != nil { // the names are valid
		return nil, err
	}
	return meant.names(o, operands)
}

func reportPaused(name string, c lock.ChangeResult) string {
	text := fmt.Sprintf("%q is already paused %s; the existing pause stays", name, pauseOf(c))
	if c.Done {
		text = fmt.Sprintf("paused %q %s", name, explain.DescribeUntil(pauseOrNone(c).Until))
	}
	if len(c.Holders) > 1 {
		text += fmt.Sprintf("; %d runs keep running", len(c.Holders))
	} else if by := heldBy(c); c.Holder.Run != "" && c.Holder.Ended.IsZero() {
		text += "; it is " + by + " and keeps running"
	}
	if c.Done && !c.Ran {
		text += "; no job of that name has run"
	}
	return text
}

func pauseOrNone(c lock.ChangeResult) lock.PauseMark {
	if c.Pause == nil {
		return lock.PauseMark{}
	}
	return *c.Pause
}

func pauseOf(c lock.ChangeResult) string {
	p := pauseOrNone(c)
	return explain.DescribePause(&p)
}

func namesOf(made []madeChange) (names []string) {
	for _, m := range made {
		names = append(names, m.name)
	}
	return names
}

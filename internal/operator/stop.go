package operator

import (
	"fmt"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"

	"github.com/spf13/cobra"
)

var stopTexts = Texts{
	Does: "stops the run of a job, on any host",
	More: `: its redlockrun gets the request at
the next renewal, sends SIGTERM, and SIGKILL after --grace.`,
	Calls: "  redlockrun stop [flags] NAME",
	Examples: `  redlockrun stop import --wait 1m
  redlockrun stop import --pause forever --why 'it deletes too much'`,
}

func defineStop(c *Command, o *Operation) {
	c.Texts = stopTexts
	c.Operands, c.Single = config.KindJob, true
	var (
		run, why      string
		pausing, wait limit
		json          bool
	)
	c.text(&run, "run", config.KindID, "stop only this run; end with 75 if another run has the lock")
	c.text(&why, "why", config.KindText, "the reason, for the history")
	c.limit(&pausing, "pause", "also pause the job for D, or forever")
	c.limit(&wait, "wait", "wait up to D until the run has ended, else end with 75")
	c.toggle(&json, "json", "print one JSON object")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		if c.Flags().Changed("pause") && pausing == 0 {
			return config.Usagef("--pause 0 pauses nothing").Hint("forever has no end")
		}
		names, err := oneJob(o, "stop", operands, run, why)
		if err != nil {
			return err
		}
		change := lock.Change{Act: lock.ActStop, Run: run, Reason: why, ThenPause: pausing != 0,
			For: time.Duration(pausing)}
		w := &changing{command: "stop", json: json, say: reportStopped, change: change}
		w.object = func(e *lock.RefusedError) (explain.Explanation, bool) { return notStopped(e, change.ThenPause) }
		made, err := w.make(o, names)
		if err != nil || made[0].Holder.Run == "" || !made[0].Holder.Ended.IsZero() {
			return err
		}
		stopped := made[0].Holder.Run
		return o.awaitIdle(names, time.Duration(wait),
			func(j lock.Job) bool { return j.Has(stopped) && isBusy(j) || j.State == "" })
	}
}

// oneJob returns the job of a command that takes exactly one, once all words and settings are
// valid.
func oneJob(o *Operation, command string, operands []string, run, why string) ([]string, error) {
	if len(operands) != 1 {
		return nil, config.Usagef("%s takes one NAME", command).Hint("redlockrun " + command + " NAME")
	}
	if run != "" && len(run) != lock.RunIDLen {
		return nil, config.Usagef("--run: this is not the id of a run").
			Hint(explain.CommandLine("status", operands[0]) + " shows it: 26 letters and digits")
	}
	return chosen(o, command, new(jobsMeant), operands, why)
}

func reportStopped(name string, c lock.ChangeResult) string {
	var text string
	switch by := c.Holder.Process(); {
	case c.Holder.Run == "":
		text = fmt.Sprintf("%q is not running", name)
	case !c.Holder.Ended.IsZero():
		text = fmt.Sprintf("the run of %q on %s has already ended", name, by)
	case !c.Done:
		text = fmt.Sprintf("%s was already told to stop %q", by, name) + learns(c)
	default:
		text = fmt.Sprintf("told %s to stop %q", by, name) + learns(c)
	}
	if c.Unconfirmed {
		text += lostAnswer(name, "stopped a run")
	}
	switch {
	case c.Pause != nil:
		text += "; the job is paused " + explain.DescribeUntil(c.Pause.Until)
	case c.Next.Run != "":
		next := lock.Holder{Run: c.Next.Run, Host: c.Next.Host, PID: c.Next.PID}
		text += "; " + next.Process() + " is next: --pause D keeps it from starting"
	}
	return text
}

// learns says when the holder learns that it must stop.
func learns(c lock.ChangeResult) string {
	d, late := unrenewed(c)
	switch {
	case c.Left < 0:
		return "; its lock never expires by itself: if it is dead, unlock frees it"
	case late:
		return fmt.Sprintf("; it has not renewed its lease for %s and may not hear of this: "+
			"the lease ends at %s",
			config.Exact(d.Round(time.Second)), lock.LocalTime(learnsBy(c)))
	}
	return "; it hears of this by " + lock.LocalTime(learnsBy(c))
}

func notStopped(e *lock.RefusedError, pausing bool) (explain.Explanation, bool) {
	if e.Refusal == lock.SeveralRuns {
		return severalRuns(e), true
	}
	text, hint := notByThatRun(e)
	hints := []string{hint}
	switch {
	case e.Pause == nil:
	case pausing:
		text += "; the job is paused anyway " + explain.DescribeUntil(e.Pause.Until)
		hints = append(hints, explain.CommandLine("resume", e.Name)+" ends the pause")
	default:
		text += "; the job is paused " + explain.DescribeUntil(e.Pause.Until)
	}
	if e.Unconfirmed {
		return refuse(e, text+lostAnswer(e.Name, "stopped that run"), hints...), true
	}
	return refuse(e, "nothing was stopped: "+text, hints...), true
}

// severalRuns lists the runs of which the command must name one.
func severalRuns(e *lock.RefusedError) explain.Explanation {
	hints := make([]string, len(e.Holders))
	for i, h := range e.Holders {
		hints[i] = fmt.Sprintf("%s --run %s stops %s", explain.CommandLine("stop", e.Name), explain.ShellWord(h.Run),
			h.Process())
	}
	return refuse(e, fmt.Sprintf("nothing was stopped: %d runs of %q hold permits", len(e.Holders), e.Name), hints...)
}

// notByThatRun says which run holds the lock instead of the one to stop, and what to type.
func notByThatRun(e *lock.RefusedError) (text, hint string) {
	has := heldBy(e.ChangeResult)
	switch {
	case e.Refusal == lock.NotOurs:
		return fmt.Sprintf("the lock of %q is %s", e.Name, has),
			explain.UnlockCommand(e.Name, e.Holder) + " removes it"
	case has == "" || e.Holder.Run == "":
		return fmt.Sprintf("this run does not have the lock of %q", e.Name),
			explain.CommandLine("status", e.Name) + " shows who has it"
	}
	return fmt.Sprintf("the lock of %q is %s, not by that run", e.Name, has),
		explain.CommandLine("stop", e.Name) + " --run " + explain.ShellWord(e.Holder.Run) + " stops this one"
}

package operator

import (
	"fmt"

	"redlockrun/internal/config"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"

	"github.com/spf13/cobra"
)

var forgetTexts = Texts{
	Does: "removes the records of jobs",
	More: `: the history, the slots (finished
work can run again), and the entry in the list. Running or paused jobs are refused.`,
	Calls: "  redlockrun forget [flags] NAME...",
	Examples: `  redlockrun forget old-report
  redlockrun forget test-1 test-2 --json`,
}

func defineForget(c *Command, o *Operation) {
	c.Texts = forgetTexts
	c.Operands = config.KindJob
	var json bool
	c.toggle(&json, "json", "print JSON, one object per line")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		names, err := chosen(o, "forget", new(jobsMeant), operands, "")
		if err != nil {
			return err
		}
		w := &changing{command: "forget", json: json, say: reportForgotten, object: notForgotten,
			change: lock.Change{Act: lock.ActForget}}
		_, err = w.make(o, names)
		return err
	}
}

func reportForgotten(name string, c lock.ChangeResult) string {
	switch {
	case c.Unconfirmed:
		return fmt.Sprintf("nothing is recorded of %q; an answer was lost: this command may have forgotten it", name)
	case !c.Done:
		return fmt.Sprintf("nothing is recorded of %q", name)
	}
	return fmt.Sprintf("forgot %q: its runs, its slots and its entry in the list", name)
}

func notForgotten(e *lock.RefusedError) (explain.Explanation, bool) {
	if e.Refusal == lock.StillPaused {
		return refuse(e, explain.DescribePausedJob(e.Name, new(pauseOrNone(e.ChangeResult))),
			explain.CommandLine("resume", e.Name)+" ends the pause"), true
	}
	hint := explain.CommandLine("stop", e.Name) + " --wait 1m ends its run"
	if e.Holder.Run == "" {
		hint = explain.CommandLine("status", e.Name) + " shows more"
	}
	return refuse(e, fmt.Sprintf("%q is %s", e.Name, heldBy(e.ChangeResult)), hint), true
}

package operator

import (
	"fmt"

	"redlockrun/internal/config"
	"redlockrun/internal/explain"
	"redlockrun/internal/lock"

	"github.com/spf13/cobra"
)

var resumeTexts = Texts{
	Does: "ends the pause of jobs",
	More: ": waiters get their turn, in the order of the queue.",
	Calls: `  redlockrun resume [flags] NAME...
  redlockrun resume [flags] --match 'PATTERN'
  redlockrun resume [flags] --all`,
	Examples: `  redlockrun resume backup
  redlockrun resume --all --why deploy`,
}

func defineResume(c *Command, o *Operation) {
	c.Texts = resumeTexts
	c.Operands = config.KindJob
	var (
		meant jobsMeant
		why   string
		json  bool
	)
	meant.define(c, "resume all listed jobs")
	c.text(&why, "why", config.KindText, "the reason, for the history\n"+
		"With --match and --all: end only pauses with this reason")
	c.toggle(&json, "json", "print JSON, one object per line")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		names, err := chosen(o, "resume", &meant, operands, why)
		if err != nil {
			return err
		}
		only := meant.listed() && c.Flags().Changed("why")
		change := lock.Change{Act: lock.ActResume, Reason: why, PauseReason: why, MatchReason: only}
		w := &changing{command: "resume", json: json, say: reportResumed, change: change}
		w.object = func(*lock.RefusedError) (explain.Explanation, bool) {
			return explain.Explanation{}, false // another operator's pause stays
		}
		if meant.listed() {
			w.quiet = func(c lock.ChangeResult) bool { return !c.Done }
		}
		made, err := w.make(o, names)
		if meant.listed() && len(names) > 0 && err == nil && !anyDone(made) {
			text := "none of them was paused"
			if only {
				text += fmt.Sprintf(" for the reason %q", why)
			}
			o.note(text)
		}
		return err
	}
}

func anyDone(made []madeChange) bool {
	for _, m := range made {
		if m.Done {
			return true
		}
	}
	return false
}

func reportResumed(name string, c lock.ChangeResult) string {
	switch {
	case c.Unconfirmed:
		return fmt.Sprintf("%q is not paused", name) + lostAnswer(name, "ended a pause")
	case !c.Done:
		return fmt.Sprintf("%q is not paused", name)
	}
	return fmt.Sprintf("resumed %q, paused %s", name, pauseOf(c))
}

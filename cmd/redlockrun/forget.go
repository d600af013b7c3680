package main

import (
	"fmt"

	"redlockrun/internal/lock"

	"github.com/spf13/pflag"
)

var forgetJobs = operatorCommand{name: "forget", help: forgetHelp, define: defineForget}

func defineForget(flags *pflag.FlagSet) act {
	json := flags.Bool("json", false, "an object a line")
	return func(o *operation, operands []string) error {
		names, err := chosen(o, "forget", new(jobsMeant), operands, "")
		if err != nil {
			return err
		}
		w := &changing{command: "forget", json: *json, say: sayForgotten, object: notForgotten, change: lock.Change{Act: lock.Forgotten}}
		_, err = w.make(o, names)
		return err
	}
}

func sayForgotten(name string, c lock.Changed) string {
	switch {
	case c.Unconfirmed:
		return fmt.Sprintf("nothing is remembered of %q; an answer was lost: this command may have forgotten it", name)
	case !c.Done:
		return fmt.Sprintf("nothing is remembered of %q", name)
	}
	return fmt.Sprintf("forgot %q: its runs, its slots, and that it is listed", name)
}

func notForgotten(e *lock.RefusedError) (outcome, bool) {
	if e.Refusal == lock.StillPaused {
		return refuse(e, pausedJob(e.Name, new(pauseOrNone(e.Changed))), typed("resume", e.Name)+" ends the pause"), true
	}
	hint := typed("stop", e.Name) + " --wait 1m ends its run"
	if e.Holder.Run == "" {
		hint = typed("status", e.Name) + " says more"
	}
	return refuse(e, fmt.Sprintf("%q is %s", e.Name, heldBy(e.Changed)), hint), true
}

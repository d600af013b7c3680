package operator

import (
	"fmt"

	"redlockrun/internal/explain"
	"redlockrun/internal/lock"

	"github.com/spf13/pflag"
)

var resumeJobs = Command{Name: "resume", Help: resumeHelp, Define: defineResume}

func defineResume(flags *pflag.FlagSet) act {
	meant := new(jobsMeant)
	meant.define(flags)
	why := flags.String("why", "", "the reason")
	json := flags.Bool("json", false, "an object a line")
	return func(o *Operation, operands []string) error {
		names, err := chosen(o, "resume", meant, operands, *why)
		if err != nil {
			return err
		}
		only := meant.listed() && flags.Changed("why")
		change := lock.Change{Act: lock.ActResume, Reason: *why, PauseReason: *why, MatchReason: only}
		w := &changing{command: "resume", json: *json, say: sayResumed, object: anotherPause, change: change}
		if meant.listed() {
			w.quiet = func(c lock.ChangeResult) bool { return !c.Done }
		}
		made, err := w.make(o, names)
		if meant.listed() && len(names) > 0 && err == nil && !anyDone(made) {
			o.note("none of them was paused" + forReason(only, *why))
		}
		return err
	}
}

func forReason(only bool, why string) string {
	if !only {
		return ""
	}
	return fmt.Sprintf(" for the reason %q", why)
}

func anyDone(made []madeChange) bool {
	for _, m := range made {
		if m.Done {
			return true
		}
	}
	return false
}

func sayResumed(name string, c lock.ChangeResult) string {
	switch {
	case c.Unconfirmed:
		return fmt.Sprintf("%q is not paused", name) + lostAnswer(name, "ended a pause")
	case !c.Done:
		return fmt.Sprintf("%q is not paused", name)
	}
	return fmt.Sprintf("resumed %q, paused %s", name, pauseOf(c))
}

// anotherPause is other people's: it stays.
func anotherPause(*lock.RefusedError) (explain.Explanation, bool) {
	return explain.Explanation{}, false
}

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/lock"

	"github.com/spf13/pflag"
)

var unlockJob = operatorCommand{name: "unlock", help: unlockHelp, define: defineUnlock}

func defineUnlock(flags *pflag.FlagSet) act {
	run, why := flags.String("run", "", "the run that is dead"), flags.String("why", "", "the reason")
	force := flags.Bool("force", false, "also if it may live")
	foreign := flags.Bool("foreign", false, "what is no run's")
	json := flags.Bool("json", false, "an object a line")
	return func(o *operation, operands []string) error {
		names, err := oneJob(o, "unlock", operands, *run, *why)
		if err == nil {
			err = checkUnlock(names[0], *run, *force, *foreign)
		}
		if err != nil {
			return err
		}
		change := lock.Change{Act: lock.Freed, Run: *run, Why: *why, Foreign: *foreign}
		if !*force {
			gone, err := o.isGone(names[0], *run)
			if err != nil {
				return err
			}
			change.Over = !gone
		}
		w := &changing{command: "unlock", json: *json, object: notUnlocked, change: func(string) lock.Change { return change }}
		w.say = func(name string, c lock.Changed) string { return sayUnlocked(name, c, *force) }
		_, err = w.make(o, names)
		return err
	}
}

func checkUnlock(name, run string, force, foreign bool) error {
	switch {
	case foreign && run != "":
		return config.Usagef("--foreign is of a lock that is no run's, and so there is no --run")
	case foreign && !force:
		return config.Usagef("--foreign takes away what somebody else may rely on").Hint("--force --foreign says that it is meant")
	case !foreign && run == "":
		return config.Usagef("there is no --run").Hint(typed("status", name) + " says the id of the run that has the lock")
	}
	return nil
}

// isGone reports whether a run has the lock that ran on this very host, where its process
// is gone: its guard has ended what was left of it.
func (o *operation) isGone(name, run string) (bool, error) {
	jobs, err := o.inspector(name)
	if err != nil {
		return false, err
	}
	job, err := attend(o.signals, func(ctx context.Context) (lock.Job, error) { return jobs.Job(ctx, name) })
	h := job.Holder
	here := h.Run == run && h.Boot != "" && h.Boot == boottime.BootID() && h.Host == lock.RecordOf(lock.Holder{Host: hostName()}).Host
	return here && h.PID > 0 && errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH), err
}

func sayUnlocked(name string, c lock.Changed, force bool) string {
	switch {
	case !c.Done:
		return fmt.Sprintf("nobody has the lock of %q", name)
	case c.Holder.Run == "":
		return fmt.Sprintf("took away the lock of %q, which was %s", name, c.Holder.Process())
	}
	text := fmt.Sprintf("took the lock of %q from %s", name, c.Holder.Process())
	if force && c.Holder.Ended.IsZero() {
		text += "; if that run lives it stops when it would renew, "
		if c.Left < 0 {
			return text + "and until then two can run"
		}
		text += "by " + clock(heedsBy(c)) + "; until then two can run"
	}
	return text
}

func notUnlocked(e *lock.RefusedError) (outcome, bool) {
	unlock := typed("unlock", e.Name)
	switch e.Refusal {
	case lock.StillPaused:
		return refuse(e, fmt.Sprintf("the lock of %q is a pause's, %s", e.Name, pauseOf(e.Changed)), typed("resume", e.Name)+" ends the pause"), true
	case lock.OtherRun:
		if by := heldBy(e.Changed); by != "" {
			return refuse(e, fmt.Sprintf("the lock of %q is %s, and not by that run", e.Name, by), typed("status", e.Name)+" says its id"), true
		}
		return refuse(e, fmt.Sprintf("that run does not have the lock of %q: nobody has it", e.Name), typed("status", e.Name)+" says how it ended"), true
	}
	run := " --run " + e.Holder.Run
	d, late := unrenewed(e.Changed)
	switch by := e.Holder.Process(); {
	case e.Left < 0:
		return refuse(e, fmt.Sprintf("%s may be alive, and its lock never expires by itself", by), unlock+run+" --force frees it now"), true
	case late:
		const text = "%s has not renewed for %s; if it is only cut off it may run until %s, when the lease ends by itself"
		return refuse(e, fmt.Sprintf(text, by, config.Exact(d.Round(time.Second)), clock(e.Now.Add(e.Left))), unlock+run+" --force frees it now"), true
	}
	return refuse(e, fmt.Sprintf("%s has renewed its lease in time: it may be alive", e.Holder.Process()),
		typed("stop", e.Name)+run+" ends it; "+unlock+run+" --force frees the lock beside it"), true
}

package operator

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/runner"

	"github.com/spf13/cobra"
)

var unlockTexts = Texts{
	Does: "takes the lock from a dead run and gives it to the first waiter",
	More: ".",
	Calls: `  redlockrun unlock [flags] NAME --run ID
  redlockrun unlock [flags] NAME --force --foreign`,
	Notes: `Without --force, unlock works only if the run has reported its end, or ran on this host and in
this container and is gone.`,
	Examples: `  redlockrun unlock backup --run 01ARZ3NDEKTSV4RRFFQ69G5FAV
  redlockrun unlock backup --force --foreign`,
}

func defineUnlock(c *Command, o *Operation) {
	c.Texts = unlockTexts
	c.Operands, c.Single = config.KindJob, true
	var (
		run, why             string
		force, foreign, json bool
	)
	c.text(&run, "run", config.KindID, "the id of the run; redlockrun status NAME shows it")
	c.toggle(&force, "force", "unlock even if the run may be alive; two can then run at once")
	c.toggle(&foreign, "foreign", "remove a lock that redlockrun did not create")
	c.text(&why, "why", config.KindText, "the reason, for the history")
	c.toggle(&json, "json", "print one JSON object")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		names, err := oneJob(o, "unlock", operands, run, why)
		if err == nil {
			err = checkUnlock(names[0], run, force, foreign)
		}
		if err != nil {
			return err
		}
		change := lock.Change{Act: lock.ActUnlock, Run: run, Reason: why, Foreign: foreign}
		if !force {
			gone, err := o.runVanished(names[0], run)
			if err != nil {
				return err
			}
			change.OnlyEnded = !gone
		}
		w := &changing{command: "unlock", json: json, change: change}
		w.say = func(name string, c lock.ChangeResult) string { return reportUnlocked(name, c, force) }
		w.object = func(e *lock.RefusedError) (explain.Explanation, bool) { return notUnlocked(e, foreign) }
		_, err = w.make(o, names)
		return err
	}
}

func checkUnlock(name, run string, force, foreign bool) error {
	switch {
	case foreign && run != "":
		return config.Usagef("--foreign removes a lock that redlockrun did not create, so it takes no --run")
	case foreign && !force:
		return config.Usagef("--foreign removes a lock that another program may rely on").
			Hint("if you are sure, add --force")
	case !foreign && run == "":
		return config.Usagef("--run is missing").
			Hint(explain.CommandLine("status", name) + " shows the id of the run that has the lock; " +
				"a lock that redlockrun did not create needs --force --foreign")
	}
	return nil
}

// runVanished reports whether the lock belongs to a run of this very host whose process and
// command have exited.
func (o *Operation) runVanished(name, run string) (bool, error) {
	jobs, err := o.inspector(name)
	if err != nil {
		return false, err
	}
	job, err := interrupt.Run(o.Signals, func(ctx context.Context) (lock.Job, error) { return jobs.Job(ctx, name) })
	h := job.HolderOf(run)
	here := h.Run == run && h.Boot != "" && h.Boot == boottime.BootID() &&
		h.Host == wire.RecordOf(lock.Holder{Host: lock.HostName()}).Host
	if err != nil || !here || h.PID <= 0 || !errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return false, err
	}
	left, err := interrupt.Run(o.Signals, func(ctx context.Context) ([]int, error) { return outlived(ctx, run) })
	if err == nil && len(left) > 0 {
		err = outlivedBy(name, h, left)
	}
	return err == nil, err
}

const (
	// guardKills is how long a guard needs at most, after the end of redlockrun, to send SIGKILL
	// to the rest of the command. It includes some time for the signal to arrive.
	guardKills = 200 * time.Millisecond

	// guardEnds is when the guard has exited, too: no process ends the rest of the command then.
	guardEnds = 3 * time.Second
)

// outlived returns the processes of a command whose redlockrun has exited, once its guard has had
// the time to end them. It cannot see those of other users: for them only the time counts.
func outlived(ctx context.Context, run string) (left []int, err error) {
	began := boottime.Now()
	for pause := guardKills; lock.Sleep(ctx, pause); pause = guardKills / 10 {
		left = runner.Bearing(config.RunIDVar + "=" + run)
		if len(left) == 0 || boottime.Now().Sub(began) > guardEnds {
			return left, nil
		}
	}
	return nil, context.Cause(ctx)
}

func outlivedBy(name string, h lock.Holder, left []int) error {
	o := explain.Failure(explain.StatusBusy,
		fmt.Sprintf("%s is gone, but process %d of its command still runs", h.Process(), left[0]),
		fmt.Sprintf("end it, or free the lock anyway with %s",
			explain.CommandLine("unlock", name)+" --run "+explain.ShellWord(h.Run)+" --force"))
	o.Event = console.EventRefused
	o.Fields = []console.Field{{Name: "key", Value: name}}
	return &unmadeError{Explanation: o}
}

func reportUnlocked(name string, c lock.ChangeResult, force bool) string {
	switch {
	case c.Unconfirmed && force:
		return unlockedPerhaps(name) +
			"; if that run is still alive, it stops at its next renewal; until then two can run"
	case c.Unconfirmed:
		return unlockedPerhaps(name)
	case !c.Done:
		return fmt.Sprintf("no run has the lock of %q", name)
	case c.Holder.Run == "":
		return fmt.Sprintf("removed the lock of %q, which was %s", name, c.Holder.Process())
	}
	text := fmt.Sprintf("took the lock of %q from %s", name, c.Holder.Process())
	if force && c.Holder.Ended.IsZero() {
		text += "; if that run is still alive, it stops at its next renewal, "
		if c.Left < 0 {
			return text + "and until then two can run"
		}
		text += "by " + lock.LocalTime(learnsBy(c)) + "; until then two can run"
	}
	return text
}

func unlockedPerhaps(name string) string {
	return fmt.Sprintf("the lock of %q has changed", name) + lostAnswer(name, "freed it")
}

func notUnlocked(e *lock.RefusedError, foreign bool) (explain.Explanation, bool) {
	status, unlock := explain.CommandLine("status", e.Name),
		explain.CommandLine("unlock", e.Name)+" --run "+explain.ShellWord(e.Holder.Run)+" --force"
	d, late := unrenewed(e.ChangeResult)
	by, has := e.Holder.Process(), heldBy(e.ChangeResult)
	switch {
	case e.Refusal == lock.StillPaused:
		message := fmt.Sprintf("a pause holds the lock of %q, %s", e.Name, pauseOf(e.ChangeResult))
		return refuse(e, message, explain.CommandLine("resume", e.Name)+" ends the pause"), true
	case e.Refusal == lock.OtherRun && has == "":
		return refuse(e, fmt.Sprintf("this run does not have the lock of %q: no run has it", e.Name),
			status+" shows how it ended"), true
	case e.Refusal == lock.OtherRun && e.Holder.Run == "":
		return refuse(e, fmt.Sprintf("the lock of %q is %s", e.Name, has),
			explain.UnlockCommand(e.Name, e.Holder)+" removes it"), true
	case e.Refusal == lock.OtherRun && foreign:
		const text = "the lock of %q is %s: a run holds it, so --foreign does not apply"
		return refuse(e, fmt.Sprintf(text, e.Name, has),
			explain.CommandLine("unlock", e.Name)+" --run "+explain.ShellWord(e.Holder.Run)+
				" frees it if that run is dead"), true
	case e.Refusal == lock.OtherRun:
		return refuse(e, fmt.Sprintf("the lock of %q is %s, not by that run", e.Name, has),
			status+" shows its id"), true
	case e.Left < 0:
		return refuse(e, by+" may be alive, and its lock never expires by itself", unlock+" frees it now"), true
	case late:
		const text = "%s has not renewed for %s; if it is only cut off, it may run until %s, " +
			"when the lease ends"
		message := fmt.Sprintf(text, by, config.Exact(d.Round(time.Second)), lock.LocalTime(e.Now.Add(e.Left)))
		return refuse(e, message, unlock+" frees it now"), true
	}
	hint := explain.CommandLine("stop", e.Name) + " --run " + explain.ShellWord(e.Holder.Run) + " ends it; " + unlock +
		" frees the lock anyway"
	return refuse(e, by+" has renewed its lease in time: it may be alive", hint), true
}

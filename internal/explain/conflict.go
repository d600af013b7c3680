package explain

import (
	"fmt"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainHeld explains a conflict: an error, or a normal result if the user said so.
func explainHeld(e *lock.HeldError, c About) Explanation {
	if e.Pause != nil && !e.Full {
		return explainPaused(e, c)
	}
	o := Failure(c.Config.Conflict, e.Error(), "-E 0 makes this a success; --wait D waits")
	if e.Full {
		o.Hints = []string{"raise --max-waiters to let more runs wait; -E 0 makes this a success"}
	}
	if !e.Full {
		o.Message += HeldSince(e.Holder) + TimeLeft(e.TTL)
	}
	o.Event, o.Fields = console.EventBusy, HolderFields(e)
	o.Message += " (" + c.Where() + ")"
	if e.TTL < 0 && !c.Config.Address.Local {
		const hint = "the key %q has no TTL and never expires: if no run uses it, %s frees it"
		o.Hints = append([]string{fmt.Sprintf(hint, e.Key, UnlockCommand(e.Name, e.Holder))}, o.Hints...)
	}
	if held := heldFor(e); c.Config.WarnHeldAfter > 0 && held > c.Config.WarnHeldAfter {
		return heldTooLong(o, e, held, c)
	}
	return o.asSkip(c)
}

// asSkip explains a conflict that -E 0 makes a normal result: only a user at a terminal sees it.
func (o Explanation) asSkip(c About) Explanation {
	if c.Config.Conflict == statusOK {
		o.level, o.Hints, o.interactive = console.Info, nil, true
	}
	return o
}

// UnlockCommand returns the command that removes a lock, whatever its holder does.
func UnlockCommand(name string, h lock.Holder) string {
	if h.Run == "" {
		return CommandLine("unlock", name) + " --force --foreign"
	}
	return CommandLine("unlock", name) + " --run " + ShellWord(h.Run) + " --force"
}

// heldTooLong explains a conflict that needs the operator's attention.
func heldTooLong(o Explanation, e *lock.HeldError, held time.Duration, c About) Explanation {
	o.Status = StatusBusy
	what := "lock"
	if e.Permits != nil {
		what = "a permit of"
	}
	o.warning = fmt.Sprintf("%s %q has been held for %s, longer than --warn-held-after %s",
		what, e.Name, config.Rounded(held), config.Exact(c.Config.WarnHeldAfter))
	o.Hints = []string{"check the run that holds it; -E does not change this status"}
	return o
}

// heldFor returns how long the holder has had the lock; 0 if unknown.
func heldFor(e *lock.HeldError) time.Duration {
	if e.Since.IsZero() {
		return 0
	}
	return boottime.Now().Sub(e.Since)
}

func HeldSince(h lock.Holder) string {
	if !h.Ended.IsZero() {
		return ", whose run has ended, until its --min-hold is over"
	}
	if h.Run == "" || h.Start.IsZero() {
		return ""
	}
	return " since " + lock.LocalTime(h.Start)
}

func TimeLeft(ttl time.Duration) string {
	if ttl < 0 {
		return ", for ever"
	}
	if ttl == 0 {
		return ""
	}
	return ", " + config.Rounded(ttl) + " left"
}

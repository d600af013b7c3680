package main

import (
	"fmt"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainHeld is a conflict: an error, or a normal outcome if the user said so
// by -E 0, which only whoever looks at a terminal wants to know.
func explainHeld(e *lock.HeldError, c plan) outcome {
	if e.Pause != nil && !e.Full {
		return explainPaused(e, c)
	}
	o := failure(c.Conflict, e.Error(), "-E 0 makes a skip successful; --wait D waits")
	if e.Full {
		o.hints = []string{"--max-waiters lets so many wait; -E 0 makes a skip successful"}
	}
	if !e.Full {
		o.message += heldSince(e.Holder) + timeLeft(e.TTL)
	}
	o.event, o.fields = console.EventBusy, ofHolder(e)
	o.message += " (" + c.where() + ")"
	if e.TTL < 0 && !c.Address.Local {
		const hint = "the key %q has no TTL and never expires by itself: once nobody works under it, %s frees it"
		o.hints = append([]string{fmt.Sprintf(hint, e.Key, freeing(e.Name, e.Holder))}, o.hints...)
	}
	if held := heldFor(e); c.WarnHeldAfter > 0 && held > c.WarnHeldAfter {
		return hangs(o, e, held, c)
	}
	if c.Conflict == statusOK {
		o.level, o.hints, o.watched = console.Info, nil, true
	}
	return o
}

// freeing is the command that takes a lock away, whatever its holder does.
func freeing(name string, h lock.Holder) string {
	if h.Run == "" {
		return typed("unlock", name) + " --force --foreign"
	}
	return typed("unlock", name) + " --run " + shellWord(h.Run) + " --force"
}

// hangs is a conflict that somebody should look at.
func hangs(o outcome, e *lock.HeldError, held time.Duration, c plan) outcome {
	o.status = statusBusy
	o.warning = fmt.Sprintf("lock %q has been held for %s, for longer than --warn-held-after %s",
		e.Name, config.Rounded(held), config.Exact(c.WarnHeldAfter))
	o.hints = []string{"look at the run that holds it; -E does not change the status of this"}
	return o
}

// heldFor is for how long the holder has had the lock; 0 if nobody knows.
func heldFor(e *lock.HeldError) time.Duration {
	if e.Since.IsZero() {
		return 0
	}
	return boottime.Now().Sub(e.Since)
}

func heldSince(h lock.Holder) string {
	if !h.Ended.IsZero() {
		return ", whose run has ended, for the rest of its --min-hold"
	}
	if h.Run == "" || h.Start.IsZero() {
		return ""
	}
	return " since " + lock.Clock(h.Start)
}

func timeLeft(ttl time.Duration) string {
	if ttl < 0 {
		return ", for ever"
	}
	if ttl == 0 {
		return ""
	}
	return ", " + config.Rounded(ttl) + " left"
}

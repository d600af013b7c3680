package explain

import (
	"fmt"
	"strings"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainDone is a dismissal: a normal outcome, which only whoever looks at a terminal wants to
// know.
func explainDone(e *lock.SlotDoneError, c About) Explanation {
	o := Explanation{Status: statusOK, level: console.Info, watched: true, Event: console.EventDismissed, Hints: []string{c.slotless()}}
	o.Message = e.Error() + by(e.By) + " (" + c.Where() + ")"
	o.Fields = []console.Field{{Name: "slot", Value: e.Slot}}
	if e.By.Run != "" {
		o.Fields = append(o.Fields, console.Field{Name: "run", Value: e.By.Run}, console.Field{Name: "host", Value: e.By.Host})
	}
	return o
}

// explainTries is a slot that the fleet has given up. Somebody should look at it, whatever -E
// says.
func explainTries(e *lock.TriesExhaustedError, c About) Explanation {
	message := e.Error() + failures(e.Failures) + " (" + c.Where() + ")"
	o := Failure(StatusBusy, message, "look at the runs that failed; --tries N lets more of them fail; "+c.slotless())
	o.Event = console.EventTries
	o.Fields = []console.Field{{Name: "slot", Value: e.Slot}, {Name: "tries", Value: e.Tries}}
	return o
}

// slotless is how to run the command in spite of its slot.
func (c *About) slotless() string {
	flag := "--once"
	if c.Config.SlotPeriod > 0 {
		flag = "--once-per"
	}
	return "without " + flag + " it runs now, and closes no slot"
}

// mostFailures are said of a slot, the last ones.
const mostFailures = 5

func failures(tries []lock.Try) string {
	if len(tries) == 0 {
		return ""
	}
	tries = tries[max(0, len(tries)-mostFailures):]
	words := make([]string, len(tries))
	for i, t := range tries {
		words[i] = lock.Escaped(t.Host) + " (" + ended(t) + ")" + at(t)
	}
	return ": " + strings.Join(words, ", ")
}

// by is by web-3 at 12:05:07 CET, as far as that is known.
func by(t lock.Try) string {
	if t.Host == "" {
		return ""
	}
	return ", by " + lock.Escaped(t.Host) + at(t)
}

func at(t lock.Try) string {
	if t.Ended.IsZero() {
		return ""
	}
	return " at " + lock.LocalTime(t.Ended)
}

// ended is failed, status 3.
func ended(t lock.Try) string {
	how := lock.Escaped(string(t.End))
	if t.Status < 0 || t.End == lock.EndVanished {
		return how
	}
	return fmt.Sprintf("%s, status %d", how, t.Status)
}

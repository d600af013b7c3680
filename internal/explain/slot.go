package explain

import (
	"fmt"
	"strings"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// explainDone explains a slot whose work is done: a normal result, shown only to a user at a
// terminal.
func explainDone(e *lock.SlotDoneError, c About) Explanation {
	o := Explanation{Status: statusOK, level: console.Info, interactive: true, Event: console.EventSlotDone,
		Hints: []string{c.withoutSlotHint()}}
	o.Message = e.Error() + byHost(e.By) + " (" + c.Where() + ")"
	o.Fields = []console.Field{{Name: "slot", Value: e.Slot}}
	if e.By.Run != "" {
		o.Fields = append(o.Fields, console.Field{Name: "run", Value: e.By.Run},
			console.Field{Name: "host", Value: e.By.Host})
	}
	return o
}

// explainTries explains a slot whose tries are exhausted. It needs attention, whatever -E says.
func explainTries(e *lock.TriesExhaustedError, c About) Explanation {
	message := e.Error() + failures(e.Failures) + " (" + c.Where() + ")"
	o := Failure(StatusBusy, message,
		"check the failed runs; --tries N allows more of them; "+c.withoutSlotHint())
	o.Event = console.EventTriesExhausted
	o.Fields = []console.Field{{Name: "slot", Value: e.Slot}, {Name: "tries", Value: e.Tries}}
	return o
}

// withoutSlotHint says how to run the command in spite of its slot.
func (c *About) withoutSlotHint() string {
	flag := "--once"
	if c.Config.SlotPeriod > 0 {
		flag = "--once-per"
	}
	return "without " + flag + " it runs now and records no slot"
}

// mostFailures limits how many failures a message lists, the last ones.
const mostFailures = 5

func failures(tries []lock.Try) string {
	if len(tries) == 0 {
		return ""
	}
	tries = tries[max(0, len(tries)-mostFailures):]
	words := make([]string, len(tries))
	for i, t := range tries {
		words[i] = lock.Escaped(t.Host) + " (" + endText(t) + ")" + atTime(t)
	}
	return ": " + strings.Join(words, ", ")
}

// byHost returns by web-3 at 12:05:07 CET, as far as that is known.
func byHost(t lock.Try) string {
	if t.Host == "" {
		return ""
	}
	return ", by " + lock.Escaped(t.Host) + atTime(t)
}

func atTime(t lock.Try) string {
	if t.Ended.IsZero() {
		return ""
	}
	return " at " + lock.LocalTime(t.Ended)
}

// endText returns failed, status 3.
func endText(t lock.Try) string {
	how := lock.Escaped(string(t.End))
	if t.Status < 0 || t.End == lock.EndVanished {
		return how
	}
	return fmt.Sprintf("%s, status %d", how, t.Status)
}

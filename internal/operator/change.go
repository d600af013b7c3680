package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"
	"redlockrun/internal/store"
)

// mostAtOnce limits how many jobs are changed at a time.
const mostAtOnce = 16

// A changing says what a command does to jobs, and how it reports that.
type changing struct {
	command string
	change  lock.Change // without By
	say     func(name string, c lock.ChangeResult) string
	quiet   func(lock.ChangeResult) bool // a result that needs no message; nil: every one needs it
	// object describes a refused change, in words of the command; false if a refusal is harmless.
	// nil: no change is refused.
	object func(*lock.RefusedError) (explain.Explanation, bool)
	json   bool
}

// A madeChange is the result for one job.
type madeChange struct {
	lock.ChangeResult
	name string
	err  error
}

// operator opens the store to change jobs, and sends no request yet.
func (o *Operation) operator(command string) (lock.Operator, error) {
	if o.Config.Address.Local {
		const text = "%s does not work with --local: a local lock file stores nothing else"
		return nil, config.Usagef(text, command).
			Hint("redlockrun status shows the holder: end that process by its pid")
	}
	return interrupt.AtOnce(o.Signals, func() (lock.Operator, error) {
		return store.OpenOperator(o.Config.Servers, lock.Inspection{Timeout: o.Config.Timeout})
	})
}

// make changes the jobs, reports the results, and returns the worst failure. It also returns the
// changes that were made.
func (w *changing) make(o *Operation, names []string) ([]madeChange, error) {
	store, err := o.operator(w.command)
	if err != nil {
		return nil, err
	}
	made, err := interrupt.Run(o.Signals,
		func(ctx context.Context) ([]madeChange, error) { return w.each(ctx, store, names), nil })
	var done, failed []madeChange
	var absent []string
	for _, m := range made {
		if m.err != nil {
			failed = append(failed, m)
			continue
		}
		done = append(done, m)
		absent = append(absent, m.Absent...)
	}
	for _, master := range distinct(absent) {
		o.warnAll([]string{"no answer from " + master + w.repeatFor(master, done)})
	}
	unsaid := o.print(w.lines(done)...)
	if err != nil { // a signal
		w.warnUnconfirmed(o, failed)
		return done, err
	}
	return done, cmp.Or(w.fail(o, failed, len(names)), unsaid)
}

// repeatFor says what to do about a master that did not answer: it keeps the pause until it learns
// of the resume.
func (w *changing) repeatFor(master string, done []madeChange) string {
	if w.change.Act != lock.ActResume {
		return ""
	}
	var names []string
	for _, m := range done {
		if slices.Contains(m.Absent, master) {
			names = append(names, m.name)
		}
	}
	return ", which may keep the pause: repeat it when " + master + " is back: " +
		explain.CommandLine("resume", names...)
}

// warnUnconfirmed names the jobs that may or may not have been changed when a signal came.
func (w *changing) warnUnconfirmed(o *Operation, failed []madeChange) {
	var names []string
	for _, m := range failed {
		if errors.As(m.err, new(*lock.UnconfirmedError)) {
			names = append(names, m.name)
		}
	}
	if len(names) > 0 {
		text := fmt.Sprintf("no answer to %s of %s", w.command, strings.Join(each(names), ", "))
		o.Console.Say(console.Message{
			Level: console.Warning, Event: console.EventUnavailable, Text: text, Hints: []string{perhapsDone(names)},
		})
	}
}

// perhapsDone says how to check whether a change without an answer was made.
func perhapsDone(names []string) string {
	return "it may have worked anyway: check with " + explain.CommandLine("status", names...)
}

// lostAnswer is added to the present state, after a change that may have been made without an
// answer.
func lostAnswer(name, deed string) string {
	return fmt.Sprintf("; an answer was lost: %s shows whether this command %s",
		explain.CommandLine("history", name), deed)
}

// lines returns the report of the changes.
func (w *changing) lines(done []madeChange) (lines []string) {
	for _, m := range done {
		switch {
		case w.json:
			lines = append(lines, string(console.Object(report.ChangeObject(m.name, w.change.Act, m.ChangeResult))))
		case w.quiet == nil || !w.quiet(m.ChangeResult):
			lines = append(lines, w.say(m.name, m.ChangeResult))
		}
	}
	return lines
}

// each changes some jobs at a time.
func (w *changing) each(ctx context.Context, store lock.Operator, names []string) []madeChange {
	made := make([]madeChange, len(names))
	var all sync.WaitGroup
	room := make(chan struct{}, mostAtOnce)
	for i, name := range names {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			made[i] = w.one(ctx, store, name)
		})
	}
	all.Wait()
	return made
}

func (w *changing) one(ctx context.Context, store lock.Operator, name string) (m madeChange) {
	c := w.change
	c.By = lock.Holder{Run: lock.NewRunID(), Host: lock.HostName(), PID: os.Getpid(), User: lock.UserName(),
		Start: time.Now()}
	m.name = name
	m.ChangeResult, m.err = store.Change(ctx, name, c)
	return m
}

// An unmadeError is a change of jobs that failed for one reason.
type unmadeError struct {
	explain.Explanation
	names       []string
	unconfirmed bool // it may have been made nevertheless
}

var _ explain.SelfExplained = (*unmadeError)(nil)

func (e *unmadeError) Error() string { return e.Message }

// Explain implements explain.SelfExplained.
func (e *unmadeError) Explain(explain.About) explain.Explanation { return e.Explanation }

// fail reports the failures, once for each reason, and returns the worst as the error.
func (w *changing) fail(o *Operation, failed []madeChange, of int) error {
	var reasons []*unmadeError
	for _, m := range failed {
		out, bad := w.explainFailure(m.err, *o.About)
		if !bad {
			continue
		}
		i := slices.IndexFunc(reasons, func(e *unmadeError) bool { return e.Message == out.Message })
		if i < 0 {
			i = len(reasons)
			reasons = append(reasons, &unmadeError{Explanation: out})
		}
		reasons[i].names = append(reasons[i].names, m.name)
		reasons[i].unconfirmed = reasons[i].unconfirmed || errors.As(m.err, new(*lock.UnconfirmedError))
	}
	if len(reasons) == 0 {
		return nil
	}
	for _, r := range reasons {
		if r.unconfirmed {
			r.Hints = append(r.Hints, perhapsDone(r.names))
		}
		if of > 1 && r.Event != console.EventRefused {
			r.Message = fmt.Sprintf("cannot %s %s: %s", w.command, strings.Join(each(r.names), ", "), r.Message)
		}
	}
	slices.SortStableFunc(reasons, func(a, b *unmadeError) int { return badness(a.Status) - badness(b.Status) })
	last := len(reasons) - 1
	for _, r := range reasons[:last] {
		r.Report(o.Console)
	}
	return reasons[last]
}

func each(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return quoted
}

func (w *changing) explainFailure(err error, c explain.About) (explain.Explanation, bool) {
	refused, ok := err.(*lock.RefusedError)
	if !ok || w.object == nil {
		return explain.Of(err, c), true
	}
	return w.object(refused)
}

// badness orders statuses: a refusal is the least bad.
func badness(status int) int {
	order := []int{explain.StatusBusy, explain.StatusNotLock, explain.StatusUnavailable}
	if i := slices.Index(order, status); i >= 0 {
		return i
	}
	return len(order)
}

// refuse explains a refused change, and says what to type next.
func refuse(e *lock.RefusedError, message string, hints ...string) explain.Explanation {
	o := explain.Failure(explain.StatusBusy, message, hints...)
	o.Event = console.EventRefused
	o.Fields = []console.Field{{Name: "key", Value: e.Name}}
	return o
}

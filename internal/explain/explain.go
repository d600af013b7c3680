// Package explain turns an error into an exit status, a message and hints. No other package does.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
)

// The exit statuses of redlockrun itself; see sysexits.h, timeout(1) and execvp(3). Any other is
// the command's.
const (
	statusOK          = 0
	StatusUsage       = 64
	StatusNotLock     = 65
	StatusUnavailable = 69
	StatusFailed      = 71
	StatusBusy        = 75
	StatusLost        = 76
	statusMaxRuntime  = 124 // of --max-runtime
	StatusSignal      = 128 // plus the signal's number
)

// An Explanation is the message at the end of a run.
type Explanation struct {
	Status      int
	level       console.Level
	Message     string // "": no message
	Hints       []string
	interactive bool   // shown at any level to a user at a terminal
	warning     string // shown before it; "": none
	Event       string // "": that of the status
	Fields      []console.Field
}

// Report writes the message. A hint comes with its message or not at all.
func (o Explanation) Report(c console.Console) int {
	if o.warning != "" {
		c.Say(console.Message{Level: console.Warning, Event: console.EventHeldLong, Text: o.warning, Fields: o.Fields})
	}
	if o.interactive && c.Interactive() {
		c = c.WithLevel(o.level)
	}
	if o.Message != "" {
		c.Say(console.Message{
			Level: o.level, Event: cmp.Or(o.Event, EndEvent(o.Status)), Text: o.Message, Hints: o.Hints,
			Fields: append([]console.Field{{Name: "status", Value: o.Status}}, o.Fields...),
		})
	}
	return o.Status
}

func Failure(status int, message string, hints ...string) Explanation {
	return Explanation{Status: status, level: console.Error, Message: message, Hints: hints}
}

// A SelfExplained error has its own status and words: it belongs to one command alone.
type SelfExplained interface {
	error
	Explain(c About) Explanation
}

// Of is the one place that turns an error into a status and words. A loss wraps its reason, which
// can be any of the others, so it comes first.
func Of(err error, c About) Explanation {
	if err == nil {
		return Explanation{}
	}
	if own, ok := errors.AsType[SelfExplained](err); ok {
		return own.Explain(c)
	}
	for _, kind := range []func(error, About) (Explanation, bool){
		explainLoss, explainUsage, explainLock, explainRun,
	} {
		if o, ok := kind(err, c); ok {
			return o
		}
	}
	return Failure(StatusFailed, err.Error(), append(HintList(missingForGuard()), shortageHint(err)...)...)
}

// A NotRestartedError says why a failed command could not start again.
type NotRestartedError struct{ Reason error }

func (e *NotRestartedError) Error() string {
	return "cannot start the command again: " + e.Reason.Error()
}
func (e *NotRestartedError) Unwrap() error { return e.Reason }

// nothingRun says what an error before a start of the command means; "" for any other error.
func nothingRun(err error) string {
	switch {
	case errors.As(err, new(*NotRestartedError)):
		return "; the command was not started again"
	case errors.As(err, new(*runner.NotStartedError)), errors.As(err, new(*runner.SignalError)):
		return "; nothing was run"
	}
	return ""
}

// explainUsage explains what the user can correct.
func explainUsage(err error, c About) (o Explanation, ok bool) {
	if usage, ok := errors.AsType[*config.UsageError](err); ok && shortageHint(err) == nil {
		return Failure(StatusUsage, usage.Problem, usage.Hints...), true
	}
	if wrong, ok := errors.AsType[*lock.ConfigError](err); ok {
		return Failure(StatusUsage, wrong.Error()+" ("+c.fromSource(wrong.Field)+")",
			HintList(c.advice(wrong))...), true
	}
	if nested, ok := errors.AsType[*lock.NestedError](err); ok {
		hint := "this wait would never end: use another --key, or leave out --wait"
		if nested.Permits {
			hint = "two such runs would wait for each other: use another --key"
		}
		return Failure(StatusUsage, nested.Error(), hint), true
	}
	return o, false
}

// explainLock explains an answer of the store, or its absence.
func explainLock(err error, c About) (o Explanation, ok bool) {
	if notLock, ok := errors.AsType[*lock.NotLockError](err); ok {
		return Failure(StatusNotLock, notLock.Error(),
			"redlockrun did not touch it; use another --key or --prefix"), true
	}
	if newer, ok := errors.AsType[*lock.NewerError](err); ok {
		return Failure(StatusNotLock, newer.Error()), true
	}
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return explainHeld(held, c), true
	}
	if done, ok := errors.AsType[*lock.SlotDoneError](err); ok {
		return explainDone(done, c), true
	}
	if tries, ok := errors.AsType[*lock.TriesExhaustedError](err); ok {
		return explainTries(tries, c), true
	}
	if stopped, ok := errors.AsType[*lock.StoppedError](err); ok {
		return explainStopped(stopped, cmp.Or(nothingRun(err), "; nothing was run"), c), true
	}
	if unread, ok := errors.AsType[*lock.FileTimeoutError](err); ok {
		const hint = "check its file system, or wait longer with --redis-timeout D"
		return Failure(StatusUnavailable, unread.Error()+" ("+c.fromSource(unread.Field)+")", hint), true
	}
	if unavailable, ok := errors.AsType[*lock.UnavailableError](err); ok {
		return explainUnavailable(unavailable, c), true
	}
	return o, false
}

// explainRun explains errors of the command, or of redlockrun itself.
func explainRun(err error, c About) (o Explanation, ok bool) {
	if signalled, ok := errors.AsType[*runner.SignalError](err); ok {
		what := nothingRun(err)
		if errors.As(err, new(*runner.StopError)) { // of a command that runs it ends nothing by itself
			what = "; the command was killed, as it stood still"
		}
		return Explanation{Status: StatusSignal + int(signalled.Signal), level: console.Info,
			Message: signalled.Error() + what}, true
	}
	if start, ok := errors.AsType[*runner.StartError](err); ok {
		return explainStart(start), true
	}
	if !errors.Is(err, runner.ErrMaxRuntime) {
		return o, false
	}
	text := "the command was stopped after --max-runtime %s"
	if errors.As(err, new(*runner.NotStartedError)) {
		text = "the command's file was not readable within --max-runtime %s" + nothingRun(err)
	}
	return Failure(statusMaxRuntime, fmt.Sprintf(text, config.Exact(c.Config.MaxRuntime))), true
}

// shortageHint says what to check if a resource was short, as for the guard.
func shortageHint(err error) []string {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return []string{limitsHint}
		}
	}
	return nil
}

// missingForGuard says what the guard needs and this machine, or container, lacks.
func missingForGuard() string {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		return "the guard needs /proc: mount it (mount -t proc proc /proc)"
	}
	if _, err := os.Stat(os.DevNull); err != nil {
		return "the guard needs /dev/null: create it (mknod -m 666 /dev/null c 1 3)"
	}
	return ""
}

const limitsHint = "check the limits of processes, files and memory (ulimit -a)"

func HintList(hint string) []string {
	if hint == "" {
		return nil
	}
	return []string{hint}
}

func explainStart(e *runner.StartError) Explanation {
	if config.MayBeURL(e.Name) {
		return Failure(e.Code, "cannot run the command: "+e.Err.Error(), "it looks like a URL: put it after --redis")
	}
	return Failure(e.Code, e.Error(), startHint(e)...)
}

func startHint(e *runner.StartError) []string {
	switch e.Code {
	case 127:
		return []string{"check the name and PATH"}
	case StatusFailed:
		return []string{cmp.Or(missingForGuard(), limitsHint)}
	}
	return nil
}

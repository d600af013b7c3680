package operator

import (
	"cmp"
	"errors"
	"os"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/report"
	"redlockrun/internal/runner"
)

// An unansweredError says why a plugin's question has no answer. The monitoring system reads
// stdout and the status, and already has the answer on stdout.
type unansweredError struct{ cause error }

var _ explain.SelfExplained = (*unansweredError)(nil)

func (e *unansweredError) Error() string { return e.cause.Error() }
func (e *unansweredError) Unwrap() error { return e.cause }

// Explain implements explain.SelfExplained: the status is a plugin's.
func (e *unansweredError) Explain(c explain.About) explain.Explanation {
	o := explain.Of(e.cause, c)
	o.Event, o.Status = cmp.Or(o.Event, explain.EndEvent(o.Status)), int(report.Unknown)
	return o
}

// AnswerUnknown prints the line for a question without an answer, unless the command has printed
// one. It returns an error with that status. A signal ends a plugin as it does any command.
func AnswerUnknown(err error, c explain.About) error {
	if errors.As(err, new(*runner.SignalError)) || errors.As(err, new(*unansweredError)) {
		return err
	}
	_, _ = os.Stdout.WriteString(report.PluginUnknown(explain.Of(err, c).Message) + "\n") // stderr gets it, too
	return &unansweredError{err}
}

// unanswered prints objects for programs: the jobs that could not be read.
func (c *checking) unanswered(o *Operation, err error) error {
	if !c.json || errors.As(err, new(*runner.SignalError)) {
		return err
	}
	var verdicts []report.Verdict
	for _, name := range c.names {
		verdicts = append(verdicts, report.Verdict{Key: name, Grade: report.Unknown,
			Message: explain.Of(err, *o.About).Message})
	}
	_ = o.print(verdictLines(verdicts)...)
	return &unansweredError{err}
}

// verdictLines formats verdicts for programs.
func verdictLines(verdicts []report.Verdict) (lines []string) {
	for _, v := range verdicts {
		lines = append(lines, string(console.Object(report.VerdictObject(v))))
	}
	return lines
}

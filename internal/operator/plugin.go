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

// An unansweredError is why a plugin's question has no answer. What asks reads stdout and the
// status, and has been told on stdout.
type unansweredError struct{ cause error }

var _ explain.SelfExplained = (*unansweredError)(nil)

func (e *unansweredError) Error() string { return e.cause.Error() }
func (e *unansweredError) Unwrap() error { return e.cause }

// Explain implements explain.SelfExplained: behind this error stands a plugin's status.
func (e *unansweredError) Explain(c explain.About) explain.Explanation {
	o := explain.Of(e.cause, c)
	o.Event, o.Status = cmp.Or(o.Event, explain.EndEvent(o.Status)), int(report.Unknown)
	return o
}

// AnswerUnknown prints the line of a question that could not be answered, unless that has been
// said, and makes an error of that status. A signal ends a plugin as it does any command.
func AnswerUnknown(err error, c explain.About) error {
	if errors.As(err, new(*runner.SignalError)) || errors.As(err, new(*unansweredError)) {
		return err
	}
	_, _ = os.Stdout.WriteString(report.PluginUnknown(explain.Of(err, c).Message) + "\n") // stderr gets it, too
	return &unansweredError{err}
}

// unanswered tells programs, which want objects, of jobs that could not be asked for.
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

// verdictLines are verdicts for programs.
func verdictLines(verdicts []report.Verdict) (lines []string) {
	for _, v := range verdicts {
		lines = append(lines, string(console.Object(report.VerdictObject(v))))
	}
	return lines
}

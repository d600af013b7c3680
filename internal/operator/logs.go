package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"

	"github.com/spf13/cobra"
)

var logsTexts = Texts{
	Does: "prints the last output of a run",
	More: `, if it ended badly and was started with
--keep-output.`,
	Calls: "  redlockrun logs [flags] NAME",
	Notes: `Without --run it prints the newest output. stderr tells which run printed it, when and how the run
ended, and how much output there was. On a terminal, control characters are escaped. Redis keeps
the output of the last 10 such runs for 15 days, at most 128 KiB per job. Output can contain
secrets: everyone who can read the keys can read it.`,
	Examples: `  redlockrun logs backup
  redlockrun logs backup --run 01KAPZ5JDVR1M4J3Q9X8W7T6S5 > backup.log`,
	Status: `0 done, 64 usage, 65 not a key of redlockrun, 69 Redis did not answer,
75 no output is kept.`,
}

// A logsLook is whose output logs is to show, and how.
type logsLook struct {
	run, name string
	json      bool
}

func defineLogs(c *Command, o *Operation) {
	c.Texts = logsTexts
	c.Operands, c.Single = config.KindJob, true
	l := new(logsLook)
	c.text(&l.run, "run", config.KindKeptRun, "print the output of run ID; history --output shows the ids")
	c.toggle(&l.json, "json", "print one JSON object, as history does, with the output")
	c.RunE = func(_ *cobra.Command, names []string) error {
		switch {
		case len(names) != 1:
			return config.Usagef("logs takes one NAME").Hint("redlockrun logs NAME")
		case c.Flags().Changed("run") && len(l.run) != lock.RunIDLen:
			return config.Usagef("--run: this is not the id of a run").
				Hint(explain.CommandLine("history", names[0]) + " --output --json shows it: 26 letters and digits")
		case o.Config.Address.Local:
			return config.Usagef("logs does not work with --local: a file of this host keeps no output").
				Hint("redirect it: redlockrun --local ... > FILE 2>&1")
		}
		l.name = names[0]
		return l.show(o)
	}
}

func (l *logsLook) show(o *Operation) error {
	jobs, err := o.inspector(l.name)
	if err != nil {
		return err
	}
	found, err := interrupt.Run(o.Signals,
		looking(o, func(ctx context.Context) (memory, error) { return l.read(ctx, jobs) }))
	if err != nil {
		return err
	}
	m := found.value
	o.warnAll(append(found.silent, m.unread()...))
	output, kept := l.chosen(m.kept.Outputs)
	switch {
	case !kept && m.kept.Err != nil:
		return m.kept.Err
	case !kept:
		return l.nothing(o)
	}
	entry := report.EntryOf(output, m.entries)
	if l.json {
		return o.print(string(console.Object(report.OutputObject(entry, []lock.Output{output}))))
	}
	o.note(report.AboutOutput(l.name, output, entry, m.job.Now, time.Local))
	if later := report.Later(m.job, output); later != "" && l.run == "" {
		o.note(later)
	}
	return l.write(o, output)
}

func (l *logsLook) read(ctx context.Context, jobs lock.Inspector) (m memory, err error) {
	if m.kept, err = readOutputs(ctx, jobs, l.name, lock.MaxOutput); err != nil || m.kept.Err != nil {
		return m, err
	}
	if m.job, err = jobs.Job(ctx, l.name); err != nil {
		return m, err
	}
	m.entries, err = jobs.Runs(ctx, l.name, true)
	return m, err
}

// chosen is the output of the run that is meant: the newest, if none is named.
func (l *logsLook) chosen(outputs []lock.Output) (o lock.Output, kept bool) {
	if l.run != "" {
		return report.OutputOf(outputs, l.run)
	}
	if len(outputs) == 0 {
		return lock.Output{}, false
	}
	return outputs[0], true
}

// nothing is an error, which && heeds.
func (l *logsLook) nothing(o *Operation) error {
	text := fmt.Sprintf("no output of %q is kept", l.name)
	hint := "redlockrun --keep-output 16k keeps the last output of a run that ends badly"
	if l.run != "" {
		text = fmt.Sprintf("no output of run %s of %q is kept", lock.Escaped(l.run), l.name)
		hint = explain.CommandLine("history", l.name) + " --output shows which runs have one"
	}
	e := explain.Failure(explain.StatusBusy, text+" ("+o.About.Where()+")", hint)
	e.Event = console.EventRefused
	return &unmadeError{Explanation: e}
}

// write prints an output: for a terminal it must not contain what steers one.
func (l *logsLook) write(o *Operation, output lock.Output) error {
	text := output.Tail
	if o.display().Terminal {
		readable := report.Readable(text)
		if readable != "" && !strings.HasSuffix(readable, "\n") {
			readable += "\n"
		}
		text = []byte(readable)
	}
	_, err := o.Out.Write(text)
	return err
}

// KeptRuns are the ids of the runs of a job whose output is kept, each with a tab and how it ended; none if the store
// does not answer within limit.
func KeptRuns(o *Operation, name string, limit time.Duration) (lines []string) {
	jobs, err := o.inspector(name)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	read := interrupt.Start(ctx, func(ctx context.Context) (lock.JobOutputs,
		error) {
		return readOutputs(ctx, jobs, name, 0)
	})
	select {
	case kept := <-read:
		for _, output := range kept.Value.Outputs {
			entry := report.EntryOf(output, nil)
			entry.Ended = time.Time{}
			lines = append(lines, lock.Escaped(output.Run)+"\t"+report.EndText(entry, time.Time{}))
		}
	case <-ctx.Done():
	}
	return lines
}

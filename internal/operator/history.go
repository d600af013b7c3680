package operator

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"

	"github.com/spf13/cobra"
)

var historyTexts = Texts{
	Does: "shows the last runs of a job, the newest first",
	More: `: when, where, how
long each run waited and worked, and how it ended.`,
	Calls: "  redlockrun history [flags] NAME",
	Examples: `  redlockrun history backup -n 5
  redlockrun history backup --since 168h --bad --json`,
	Status: statusTexts.Status,
}

// A historyLook says what history shows, and how.
type historyLook struct {
	choice       report.RunChoice
	since        span
	follow, json bool
	output       bool
	name         string
}

func defineHistory(c *Command, o *Operation) {
	c.Texts = historyTexts
	c.Operands, c.Single = config.KindJob, true
	l := new(historyLook)
	c.number(&l.choice.Most, "number", "n", "show at most N runs")
	c.span(&l.since, "since", "show runs that ended in the last D")
	c.toggle(&l.choice.Bad, "bad", "show runs that ended badly; they are kept longer")
	c.text(&l.choice.Host, "host", config.KindHost, "show runs on HOST")
	c.toggle(&l.follow, "follow", "show the oldest first, and wait for more until Ctrl-C")
	c.toggle(&l.output, "output", "also show the last output of runs with --keep-output")
	c.toggle(&l.json, "json", "print JSON, one object per line")
	c.RunE = func(_ *cobra.Command, names []string) error {
		switch {
		case len(names) != 1:
			return config.Usagef("history takes one NAME").Hint("redlockrun history NAME")
		case c.Flags().Changed("number") && l.choice.Most < 1:
			return config.Usagef("-n %d shows nothing", l.choice.Most)
		case o.Config.Address.Local:
			return config.Usagef("history does not work with --local: a local lock file keeps no history").
				Hint("redlockrun status shows who has the lock")
		}
		l.name, l.choice.Since = names[0], time.Duration(l.since)
		return l.show(o)
	}
}

// A memory holds the recorded entries of a job at one instant.
type memory struct {
	job     lock.Job
	entries []lock.Entry // newest first
	kept    lock.JobOutputs
}

func (l *historyLook) show(o *Operation) error {
	jobs, err := o.inspector(l.name)
	if err != nil {
		return err
	}
	read := looking(o, func(ctx context.Context) (memory, error) { return l.read(ctx, jobs) })
	m, err := interrupt.Run(o.Signals, read)
	if err != nil {
		return err
	}
	o.warnAll(append(m.silent, m.value.unread()...))
	if l.follow {
		return l.followRuns(o, m, read)
	}
	return o.print(l.lines(m.value, o.display())...)
}

func (l *historyLook) read(ctx context.Context, jobs lock.Inspector) (m memory, err error) {
	if m.job, err = jobs.Job(ctx, l.name); err != nil {
		return m, err
	}
	m.entries, err = jobs.Runs(ctx, l.name, l.choice.Bad)
	m.entries = report.Complete(m.job, m.entries)
	if err == nil && l.output {
		m.kept, err = readOutputs(ctx, jobs, l.name, l.mostBytes())
	}
	return m, err
}

// mostBytes is how much of each output is read: programs get all of it.
func (l *historyLook) mostBytes() int {
	if l.json {
		return lock.MaxOutput
	}
	return report.LastBytes
}

// readOutputs reads what is kept of the output of one job.
func readOutputs(ctx context.Context, jobs lock.Inspector, name string, most int) (lock.JobOutputs, error) {
	all, err := jobs.Outputs(ctx, []string{name}, most)
	if err != nil {
		return lock.JobOutputs{}, err
	}
	return all[0], nil
}

// unread is what could not be read.
func (m memory) unread() []string {
	job := m.job
	job.Unread = slices.Concat(job.Unread, m.kept.Unread)
	return unread([]lock.Job{job})
}

func (l *historyLook) lines(m memory, d console.Display) []string {
	chosen := l.choice.Of(m.entries, m.job.Now)
	if l.json {
		return objects(chosen, m.kept.Outputs)
	}
	var lines []string
	if len(chosen) > 0 {
		lines = report.History(chosen, report.Longest(chosen), time.Local).Lines(d)
		lines = report.WithOutputs(lines, chosen, m.kept.Outputs)
	}
	return append(lines, report.Memory(m.job, m.entries, time.Local))
}

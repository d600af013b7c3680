package operator

import (
	"context"
	"fmt"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"

	"github.com/spf13/cobra"
)

var statusTexts = Texts{
	Does: "shows which job runs where, and how and when its last run ended",
	More: ".",
	Calls: `  redlockrun status [flags]               a line for each job that is listed
  redlockrun status [flags] NAME          a page about one job
  redlockrun status [flags] NAME NAME...  a line for each of them`,
	Remarks: `A job is listed after its first run, unless that had --history 0. An unknown job is shown as
never seen. Jobs needing attention stand first. --watch cuts the list to fit the
terminal, and counts the jobs that it cuts.`,
	Notes: `states: running; starting (the lock is being handed over); ended (its --min-hold is not
over); idle; overdue (idle, and the last success is older than --max-age allows); paused;
silent (it has missed a renewal, but its lease still lasts); vanished (it lost its lock without
reporting an end); stuck (the lock never expires by itself); foreign (redlockrun did not create
the key).`,
	Examples: `  redlockrun status --bad
  redlockrun status --watch --every 5`,
	Status: "0 done, 64 usage, 65 not a key of redlockrun, 69 Redis did not answer.",
}

// A statusLook says what status shows, and how.
type statusLook struct {
	choice      report.JobChoice
	watch, json bool
	every       span
	scan        bool
	names       []string
}

func defineStatus(c *Command, o *Operation) {
	c.Texts = statusTexts
	c.Operands = config.KindJob
	l := &statusLook{every: span(2 * time.Second)}
	c.toggle(&l.choice.Running, "running", "show jobs that run")
	c.toggle(&l.choice.Paused, "paused", "show jobs that are paused")
	c.toggle(&l.choice.Bad, "bad", "show jobs that failed, vanished, are overdue, silent or stuck")
	c.text(&l.choice.Host, "host", config.KindHost, "show jobs that run on HOST, or vanished there")
	c.toggle(&l.watch, "watch", "refresh until q or Ctrl-C; without a terminal, print again and again")
	c.span(&l.every, "every", "refresh --watch each D (2s)")
	c.toggle(&l.json, "json", "print JSON, one object per line")
	c.toggle(&l.scan, "scan", "also search all keys of Redis for locks; this can be slow")
	c.RunE = func(_ *cobra.Command, names []string) error {
		l.names = names
		switch {
		case c.Flags().Changed("every") && !l.watch:
			return config.Usagef("--every needs --watch")
		case time.Duration(l.every) < minWatchInterval:
			return config.Usagef("--every %s is too short",
				config.Exact(time.Duration(l.every))).Hint("the minimum is " + config.Exact(minWatchInterval))
		case l.scan && len(names) > 0:
			return config.Usagef("--scan finds names: leave NAME out")
		}
		return l.show(o)
	}
}

func (l *statusLook) show(o *Operation) error {
	jobs, err := o.inspector(l.names...)
	if err != nil {
		return err
	}
	read := looking(o, func(ctx context.Context) ([]lock.Job, error) { return l.read(ctx, jobs) })
	if l.watch {
		return (&watch{o, time.Duration(l.every), read, l.lines}).run(l.json)
	}
	found, err := interrupt.Run(o.Signals, read)
	if err != nil {
		return err
	}
	o.warnAll(append(found.silent, unread(found.value)...))
	if len(found.value) == 0 {
		o.note("no job is known here (" + o.About.Where() +
			"): a job is listed after its first run; --scan finds locks")
	}
	if err := o.print(l.lines(found.value, o.display(), 0)...); err != nil || l.json {
		return err
	}
	l.noteBad(o, l.choice.Of(found.value))
	return nil
}

// noteBad tells a reader whose terminal shows only the end of the list that bad jobs stand above.
func (l *statusLook) noteBad(o *Operation, listed []lock.Job) {
	bad := len(report.JobChoice{Bad: true}.Of(listed))
	if height := o.display().Height; height > 0 && len(listed) >= height && bad > 0 && bad < len(listed) {
		o.note(fmt.Sprintf("%d of these %d jobs need attention: they are listed first, and --bad lists only them",
			bad, len(listed)))
	}
}

// read reads the jobs of the names, or all listed jobs without names.
func (l *statusLook) read(ctx context.Context, jobs lock.Inspector) ([]lock.Job, error) {
	if len(l.names) == 1 {
		job, err := jobs.Job(ctx, l.names[0])
		return []lock.Job{job}, err
	}
	return readNamed(ctx, jobs, l.names, l.scan, jobs.Jobs)
}

// lines returns the chosen jobs in the form of the output, for so many lines of room; 0: there is no limit.
func (l *statusLook) lines(jobs []lock.Job, d console.Display, room int) (lines []string) {
	chosen := l.choice.Of(jobs)
	switch {
	case l.json:
		for _, job := range chosen {
			lines = append(lines, string(console.Object(report.JobObject(job))))
		}
	case len(l.names) == 1 && len(chosen) == 1:
		lines = report.Page(chosen[0], time.Local, d)
	case len(chosen) > 0:
		lines = report.JobLines(chosen, d, room)
	}
	return lines
}

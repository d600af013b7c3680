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
	Does: "tells which job runs where, how the last run ended, and when",
	More: ".",
	Calls: `  redlockrun status [flags]               a line for each job that is listed
  redlockrun status [flags] NAME          a page about one job
  redlockrun status [flags] NAME NAME...  a line for each of them`,
	Remarks: `A job is listed when it has run (but with --history 0). One of which nothing is known is
said to be never seen. Jobs that need attention stand first. --watch cuts the list to fit the
terminal, and counts the jobs that it cuts.`,
	Notes: `states: running; starting (the lock is being handed over); ended (its --min-hold is not
over); idle; overdue (idle, and the last success is older than --max-age allows); paused;
silent (it should have renewed its lease, which still lasts); vanished (it has no lock any
more, and has not said how it ended); stuck (the lock never expires by itself); foreign
(the key is somebody else's).`,
	Examples: `  redlockrun status --bad
  redlockrun status --watch --every 5`,
	Status: "0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis.",
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
	c.toggle(&l.choice.Running, "running", "what runs")
	c.toggle(&l.choice.Paused, "paused", "what is paused")
	c.toggle(&l.choice.Bad, "bad", "what has ended badly, has vanished, is overdue, silent or stuck")
	c.text(&l.choice.Host, "host", config.KindHost, "what runs on HOST, or has vanished there")
	c.toggle(&l.watch, "watch", "draw it anew until q or Ctrl-C; not on a terminal: print it")
	c.span(&l.every, "every", "with --watch: so often (2s)")
	c.toggle(&l.json, "json", "one object a line")
	c.toggle(&l.scan, "scan", "list the locks in the keyspace, too: Redis looks at every key")
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

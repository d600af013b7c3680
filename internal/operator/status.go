package operator

import (
	"context"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"

	"github.com/spf13/pflag"
)

var lookAtStatus = Command{Name: "status", Help: statusHelp, Define: defineStatus, status: lookStatus}

// A statusLook is what status is to show, and how.
type statusLook struct {
	choice      report.JobChoice
	watch, json bool
	every       span
	scan        bool
	names       []string
}

func defineStatus(flags *pflag.FlagSet) act {
	l := &statusLook{every: span(2 * time.Second)}
	flags.BoolVar(&l.choice.Running, "running", false, "what runs")
	flags.BoolVar(&l.choice.Paused, "paused", false, "what is paused")
	flags.BoolVar(&l.choice.Bad, "bad", false, "what somebody should look at")
	flags.StringVar(&l.choice.Host, "host", "", "what runs on a host")
	flags.BoolVar(&l.watch, "watch", false, "draw it anew")
	flags.Var(&l.every, "every", "how often")
	flags.BoolVar(&l.json, "json", false, "an object a line")
	flags.BoolVar(&l.scan, "scan", false, "look for locks in the keyspace")
	return func(o *Operation, names []string) error {
		l.names = names
		switch {
		case flags.Changed("every") && !l.watch:
			return config.Usagef("--every is for --watch")
		case time.Duration(l.every) < shortestWatch:
			return config.Usagef("--every %s is too short", config.Exact(time.Duration(l.every))).Hint("the least is " + config.Exact(shortestWatch))
		case l.scan && len(names) > 0:
			return config.Usagef("--scan looks for names, and there are some")
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
		o.note("no job is known here (" + o.About.Where() + "): a job is listed when it has run; --scan looks for locks")
	}
	return o.print(l.lines(found.value, o.display())...)
}

// read reads the jobs of the names, or of all that are listed.
func (l *statusLook) read(ctx context.Context, jobs lock.Inspector) ([]lock.Job, error) {
	if len(l.names) == 1 {
		job, err := jobs.Job(ctx, l.names[0])
		return []lock.Job{job}, err
	}
	return readNamed(ctx, jobs, l.names, l.scan, jobs.Jobs)
}

// lines are the chosen ones of jobs as they are to be shown.
func (l *statusLook) lines(jobs []lock.Job, d console.Display) (lines []string) {
	chosen := l.choice.Of(jobs)
	switch {
	case l.json:
		for _, job := range chosen {
			lines = append(lines, string(console.Object(report.JobObject(job))))
		}
	case len(l.names) == 1 && len(chosen) == 1:
		lines = report.Page(chosen[0], time.Local, d)
	case len(chosen) > 0:
		lines = report.Jobs(chosen).Lines(d)
	}
	return lines
}

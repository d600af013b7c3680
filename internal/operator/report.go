package operator

import (
	"context"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/outfile"
	"redlockrun/internal/page"

	"github.com/spf13/pflag"
)

var writeReport = Command{Name: "report", Help: reportHelp, Define: defineReport, status: reportStatus}

// A reportLook is what a page is to show, and where it goes.
type reportLook struct {
	since, refresh span
	output         string
	names          []string
}

func defineReport(flags *pflag.FlagSet) act {
	l := &reportLook{since: span(24 * time.Hour)}
	flags.Var(&l.since, "since", "how much of the past")
	flags.StringVar(&l.output, "output", "", "the file")
	flags.Var(&l.refresh, "refresh", "how often a browser reads it again")
	return func(o *Operation, names []string) error {
		switch since := time.Duration(l.since); {
		case since < time.Minute, since > longestReport:
			return config.Usagef("--since %s is no length of a page", config.Exact(since)).Hint("from 1m to 87600h, which are ten years")
		case flags.Changed("refresh") && time.Duration(l.refresh) < time.Second:
			return config.Usagef("--refresh %s is too short", config.Exact(time.Duration(l.refresh))).Hint("the least is 1s")
		case flags.Changed("output") && l.output == "":
			return config.Usagef("--output names no file")
		case o.Config.Address.Local:
			return config.Usagef("report is not for --local: a file of this host remembers no runs").Hint("redlockrun status says who has the lock")
		}
		l.names = names
		return l.write(o)
	}
}

// longestReport is ten years: nobody remembers more.
const longestReport = 87600 * time.Hour

func (l *reportLook) write(o *Operation) error {
	jobs, err := o.inspector(l.names...)
	if err != nil {
		return err
	}
	found, err := interrupt.Run(o.Signals, looking(o, func(ctx context.Context) ([]lock.Job, error) {
		return readNamed(ctx, jobs, l.names, false, jobs.JobsWithRuns)
	}))
	if err != nil {
		return err
	}
	missing := append(found.silent, unread(found.value)...)
	o.warnAll(missing)
	text := page.HTML(found.value, page.View{
		Now: time.Now(), Since: time.Duration(l.since), Zone: time.Local, Place: jobs.Address(), Missing: missing,
		Refresh: int(time.Duration(l.refresh) / time.Second),
	})
	if l.output != "" {
		return outfile.Put(l.output, text, outfile.ForAll)
	}
	_, err = o.Out.Write(text)
	return err
}

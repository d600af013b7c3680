package operator

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/outfile"
	"redlockrun/internal/page"
	"redlockrun/internal/report"

	"github.com/spf13/cobra"
)

var reportTexts = Texts{
	Does: "writes an HTML page about the jobs",
	More: `: the table of status with the
worst jobs first, a timeline of the runs on all hosts, and a list of the bad runs. It is one file.
Its only script filters the jobs; the page also works without it.`,
	Calls: `  redlockrun report [flags]              of all jobs that are listed
  redlockrun report [flags] NAME...      of these`,
	Notes: `Hatched times are older than the history, which --history limits. For a failed run with
--keep-output, the page shows the last 4 KiB of output; it can contain secrets.`,
	Examples: `  redlockrun report --since 168h > jobs.html
  * * * * * redlockrun report --output /var/www/html/jobs.html --refresh 1m`,
	Status: `0 done, 64 usage, 65 not a key of redlockrun, 69 Redis did not answer,
71 FILE could not be written.`,
}

// A reportLook says what a page shows, and where it goes.
type reportLook struct {
	since, refresh span
	output         string
	names          []string
}

func defineReport(c *Command, o *Operation) {
	c.Texts = reportTexts
	c.Operands = config.KindJob
	l := &reportLook{since: span(24 * time.Hour)}
	c.span(&l.since, "since", "show the last D (24h), at least 1m")
	c.text(&l.output, "output", config.KindFile, "write FILE instead of stdout\n"+
		"FILE is replaced at once; it stays if Redis does not answer")
	c.span(&l.refresh, "refresh", "let browsers reload the page each D")
	c.RunE = func(_ *cobra.Command, names []string) error {
		switch since := time.Duration(l.since); {
		case since < time.Minute, since > longestReport:
			return config.Usagef("--since %s is out of range", config.Exact(since)).
				Hint("use 1m to 87600h (ten years)")
		case c.Flags().Changed("refresh") && time.Duration(l.refresh) < time.Second:
			return config.Usagef("--refresh %s is too short", config.Exact(time.Duration(l.refresh))).
				Hint("the minimum is 1s")
		case c.Flags().Changed("output") && l.output == "":
			return config.Usagef("--output needs a file name")
		case o.Config.Address.Local:
			return config.Usagef("report does not work with --local: a local lock file keeps no history").
				Hint("redlockrun status shows who has the lock")
		}
		l.names = names
		return l.write(o)
	}
}

// longestReport is ten years: no store keeps more.
const longestReport = 87600 * time.Hour

func (l *reportLook) write(o *Operation) error {
	jobs, err := o.inspector(l.names...)
	if err != nil {
		return err
	}
	found, err := interrupt.Run(o.Signals, looking(o, func(ctx context.Context) (reportData, error) {
		return l.read(ctx, jobs)
	}))
	if err != nil {
		return err
	}
	missing := append(found.silent, unread(found.value.jobs)...)
	o.warnAll(missing)
	text := page.HTML(found.value.jobs, page.View{
		Now: time.Now(), Since: time.Duration(l.since), Zone: time.Local, Place: jobs.Address(), Missing: missing,
		Outputs: found.value.outputs,
		Refresh: int(time.Duration(l.refresh) / time.Second),
	})
	if l.output != "" {
		return outfile.Put(l.output, text, outfile.ForAll)
	}
	_, err = o.Out.Write(text)
	return err
}

// reportData is what a page shows.
type reportData struct {
	jobs    []lock.Job
	outputs map[string][]lock.Output // by the names of the jobs
}

// read reads the jobs, and what is kept of the output of those of which a run ended badly.
func (l *reportLook) read(ctx context.Context, jobs lock.Inspector) (d reportData, err error) {
	if d.jobs, err = readNamed(ctx, jobs, l.names, false, jobs.JobsWithRuns); err != nil {
		return d, err
	}
	var names []string
	bad := report.RunChoice{Bad: true, Most: 1, Since: time.Duration(l.since)}
	for _, j := range d.jobs {
		if len(bad.Of(j.Runs, j.Now)) > 0 {
			names = append(names, j.Name)
		}
	}
	all, err := jobs.Outputs(ctx, names, report.LastBytes)
	d.outputs = make(map[string][]lock.Output, len(all))
	for _, kept := range all {
		d.outputs[kept.Name] = kept.Outputs
		i := slices.IndexFunc(d.jobs, func(j lock.Job) bool { return j.Name == kept.Name })
		d.jobs[i].Unread = append(d.jobs[i].Unread, kept.Unread...)
	}
	return d, err
}

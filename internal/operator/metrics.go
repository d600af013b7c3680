package operator

import (
	"context"
	"errors"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/outfile"
	"redlockrun/internal/report"

	"github.com/spf13/cobra"
)

var metricsTexts = Texts{
	Does: "prints metrics of all listed jobs for Prometheus",
	More: `. One host is
enough for the whole fleet. Values that are unknown are left out.`,
	Calls: "  redlockrun metrics [flags]",
	Notes: `The label key is the NAME of the job. If Redis does not answer, redlockrun_up is 0 and the only
metric, in PATH too. redlockrun_runs_total counts all runs by how they ended; a quorum has no such
count.`,
	Examples: `  redlockrun metrics | grep last_success
  redlockrun metrics --textfile /var/lib/prometheus/node-exporter/redlockrun.prom`,
	Status: `0 done, 64 usage, 65 not a key of redlockrun, 69 Redis did not answer,
71 PATH could not be written.`,
}

// A metering says where the metrics go.
type metering struct{ file string }

func defineMetrics(c *Command, o *Operation) {
	c.Texts = metricsTexts
	m := new(metering)
	c.text(&m.file, "textfile", config.KindPath, "write PATH for the textfile collector of node_exporter\n"+
		"PATH ends in .prom; it is replaced at once, with mode 0644")
	c.RunE = func(_ *cobra.Command, operands []string) error {
		switch {
		case len(operands) > 0:
			return config.Usagef("metrics covers all jobs and takes no NAME")
		case c.Flags().Changed("textfile") && m.file == "":
			return config.Usagef("--textfile is empty")
		case o.Config.Address.Local:
			return config.Usagef("metrics does not work with --local: a local lock file keeps no history").
				Hint("redlockrun status shows who has the lock")
		}
		return m.report(o)
	}
}

// report writes the metrics, or that there are none because the store did not answer.
func (m *metering) report(o *Operation) error {
	if m.file != "" && !strings.HasSuffix(m.file, ".prom") {
		o.warnAll([]string{"--textfile: node_exporter collects only files whose names end in .prom"})
	}
	jobs, err := o.inspector()
	if err != nil {
		return err
	}
	found, err := interrupt.Run(o.Signals, looking(o, func(ctx context.Context) ([]lock.Job, error) {
		return readNamed(ctx, jobs, nil, false, jobs.Jobs)
	}))
	if errors.As(err, new(*lock.UnavailableError)) {
		if unwritten := m.write(o, report.MetricsDown()); unwritten != nil {
			o.warnAll([]string{unwritten.Error()})
		}
		return err
	}
	if err != nil {
		return err
	}
	o.warnAll(append(found.silent, unread(found.value)...))
	return m.write(o, report.Metrics(found.value))
}

func (m *metering) write(o *Operation, text string) error {
	if m.file != "" {
		return outfile.Put(m.file, []byte(text), outfile.ForAll)
	}
	_, err := o.Out.WriteString(text)
	return err
}

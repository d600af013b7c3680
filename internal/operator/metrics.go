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

	"github.com/spf13/pflag"
)

var tellMetrics = Command{Name: "metrics", Help: metricsHelp, Define: defineMetrics, status: metricsStatus}

// A metering is where the metrics go.
type metering struct{ file string }

func defineMetrics(flags *pflag.FlagSet) act {
	m := new(metering)
	flags.StringVar(&m.file, "textfile", "", "a file in place of stdout")
	return func(o *Operation, operands []string) error {
		switch {
		case len(operands) > 0:
			return config.Usagef("metrics is of all jobs, and has no NAME")
		case flags.Changed("textfile") && m.file == "":
			return config.Usagef("--textfile is empty")
		case o.Config.Address.Local:
			return config.Usagef("metrics is not for --local: a file of this host remembers no runs").Hint("redlockrun status says who has the lock")
		}
		return m.tell(o)
	}
}

// tell writes the metrics, also that there are none since the store did not answer.
func (m *metering) tell(o *Operation) error {
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

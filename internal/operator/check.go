package operator

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"

	"github.com/spf13/pflag"
)

var checkJobs = Command{Name: "check", Help: checkHelp, Define: defineCheck, status: checkStatus, Plugin: true}

// A checking is what check holds jobs to, and how it says what it finds.
type checking struct {
	rules report.Rules
	json  bool
	names []string
}

func defineCheck(flags *pflag.FlagSet) act {
	c := new(checking)
	flags.Var((*span)(&c.rules.MaxAge), "max-age", "critical if the last success is older")
	flags.Var((*span)(&c.rules.WarnAge), "warn-age", "a warning if it is")
	flags.Var((*span)(&c.rules.MaxRuntime), "max-runtime", "critical if it has run for longer")
	flags.IntVar(&c.rules.MaxFailures, "max-failures", 0, "critical from so many bad ends in a row on")
	flags.BoolVar(&c.json, "json", false, "an object for each job")
	return func(o *Operation, names []string) error {
		c.names = slices.Compact(slices.Sorted(slices.Values(names)))
		if err := c.sensible(flags, o); err != nil {
			return err
		}
		verdicts, silent, err := c.judge(o)
		if err != nil {
			return c.unanswered(o, err)
		}
		o.verdict = int(report.Worst(verdicts))
		if c.json {
			o.warnAll(silent)
			return o.print(verdictLines(verdicts)...)
		}
		return o.print(report.Plugin(verdicts, silent))
	}
}

// sensible refuses what could never be checked.
func (c *checking) sensible(flags *pflag.FlagSet, o *Operation) error {
	none := []bool{c.rules.MaxAge == 0, c.rules.WarnAge == 0, c.rules.MaxRuntime == 0, c.rules.MaxFailures <= 0}
	for i, name := range []string{"max-age", "warn-age", "max-runtime", "max-failures"} {
		if flags.Changed(name) && none[i] {
			return config.Usagef("--%s %s is no limit", name, flags.Lookup(name).Value)
		}
	}
	switch {
	case len(c.names) == 0:
		return config.Usagef("check is of at least one NAME").Hint("redlockrun status lists the jobs")
	case o.Config.Address.Local:
		return config.Usagef("check is not for --local: a file of this host remembers no runs").Hint("redlockrun status says who has the lock")
	}
	return nil
}

// judge reads the jobs and holds them to the rules. Of a quorum it names who was silent.
func (c *checking) judge(o *Operation) (verdicts []report.Verdict, silent []string, err error) {
	jobs, err := o.inspector(c.names...)
	if err != nil {
		return nil, nil, err
	}
	read := jobs.Jobs
	if c.rules.MaxFailures > 0 {
		read = jobs.JobsWithRuns
	}
	found, err := interrupt.Run(o.Signals, looking(o, func(ctx context.Context) ([]lock.Job, error) { return read(ctx, c.names) }))
	return c.rules.JudgeAll(found.value, time.Local), found.silent, err
}

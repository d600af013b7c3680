package operator

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/interrupt"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var checkTexts = Texts{
	Does: "checks jobs for a monitoring system",
	More: `: it prints one line with
performance data and sets the exit status, as plugins of Nagios and Icinga do. Scripts and timers
can use it too.`,
	Calls: `  redlockrun check [flags] NAME...
  redlockrun check [flags] --match 'PATTERN'
  redlockrun check [flags] --all`,
	Notes: `Without flags: CRITICAL if the last run failed or vanished, the job is overdue by the --max-age of
its runs, or a bad key stops it (65);
WARNING if a run is silent, or the lock is stuck or foreign; UNKNOWN if the job was never seen, or
Redis does not answer; else OK. A paused job is never overdue. The worst result counts, in the
order CRITICAL, UNKNOWN, WARNING, OK. Of several jobs, OK ones are only counted.

--all and --match know only jobs that have run. For a job that must run, also check its NAME with
--max-age: Redis can lose its data.`,
	Examples: `  redlockrun check --all
  redlockrun check --max-age 26h nightly-report
  redlockrun check -q --max-failures 3 orders invoices && deploy`,
	Status: `0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, also for a wrong command
line or configuration, and if Redis does not answer.`,
}

// A checking says which rules check applies, and how it reports the result.
type checking struct {
	rules report.Rules
	json  bool
	meant jobsMeant
	names []string
	known int // the number of listed jobs, if listed ones are chosen
}

func defineCheck(c *Command, o *Operation) {
	c.Texts = checkTexts
	c.Operands = config.KindJob
	c.Plugin = true
	k := &checking{meant: jobsMeant{flags: true}}
	c.toggle(&k.meant.all, "all", "check all listed jobs, the worst first")
	c.text(&k.meant.match, "match", config.KindPattern, "check the listed jobs whose names match (*, ?, [a-z])")
	c.age((*age)(&k.rules.MaxAge), "max-age", "CRITICAL if the last success is older than D\n"+
		"or none is recorded; replaces the limit that its runs have set")
	c.age((*age)(&k.rules.WarnAge), "warn-age", "WARNING if the last success is older than D")
	c.span((*span)(&k.rules.MaxRuntime), "max-runtime", "CRITICAL if a run has lasted longer than D")
	c.number(&k.rules.MaxFailures, "max-failures", "", "CRITICAL only after N failures in a row")
	c.toggle(&k.json, "json", "print a JSON object for each NAME")
	c.RunE = func(_ *cobra.Command, names []string) error {
		k.names = slices.Compact(slices.Sorted(slices.Values(names)))
		if err := k.sensible(c.Flags(), o); err != nil {
			return err
		}
		verdicts, silent, err := k.judge(o)
		if err != nil {
			return k.unanswered(o, err)
		}
		return k.print(o, verdicts, silent)
	}
}

// print prints the verdicts. If no listed job is chosen the result is unknown, because the data
// may be lost.
func (c *checking) print(o *Operation, verdicts []report.Verdict, silent []string) error {
	o.exitStatus = int(report.Worst(verdicts))
	if len(verdicts) == 0 {
		o.exitStatus = int(report.Unknown)
		silent = append([]string{c.noneMeant(o)}, silent...)
	}
	switch {
	case c.json:
		o.warnAll(silent)
		return o.print(verdictLines(report.WorstFirst(verdicts))...)
	case c.meant.listed():
		return o.print(report.PluginOfAll(verdicts, silent))
	}
	return o.print(report.Plugin(verdicts, silent))
}

func (c *checking) noneMeant(o *Operation) string {
	text, _ := c.meant.none(c.known)
	return text + " (" + o.About.Where() + ")"
}

// sensible refuses rules that can never be checked.
func (c *checking) sensible(flags *pflag.FlagSet, o *Operation) error {
	none := []bool{c.rules.MaxAge == 0, c.rules.WarnAge == 0, c.rules.MaxRuntime == 0, c.rules.MaxFailures <= 0}
	for i, name := range []string{"max-age", "warn-age", "max-runtime", "max-failures"} {
		if flags.Changed(name) && none[i] {
			return config.Usagef("--%s %s is not a valid limit", name, flags.Lookup(name).Value)
		}
	}
	if o.Config.Address.Local {
		return config.Usagef("check does not work with --local: a local lock file keeps no history").
			Hint("redlockrun status shows who has the lock")
	}
	return c.meant.check("check", c.names)
}

// judge reads the jobs and applies the rules. For a quorum it names the silent masters.
func (c *checking) judge(o *Operation) (verdicts []report.Verdict, silent []string, err error) {
	jobs, err := o.inspector(c.names...)
	if err != nil {
		return nil, nil, err
	}
	read := jobs.Jobs
	if c.rules.MaxFailures > 0 {
		read = jobs.JobsWithRuns
	}
	found, err := interrupt.Run(o.Signals, looking(o, func(ctx context.Context) ([]lock.Job, error) {
		names := c.names
		if c.meant.listed() {
			listed, err := jobs.Names(ctx, false)
			if names, c.known = c.meant.of(listed), len(listed); err != nil || len(names) == 0 {
				return nil, err
			}
		}
		return read(ctx, names)
	}))
	return c.rules.JudgeAll(found.value, time.Local), found.silent, err
}

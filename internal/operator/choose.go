package operator

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/interrupt"
)

// A jobsMeant says which jobs a command is for: NAME..., or listed jobs.
type jobsMeant struct {
	all   bool
	match string
	flags bool // otherwise there is only NAME...
}

// define gives c the flags that choose listed jobs. all is the help of --all.
func (m *jobsMeant) define(c *Command, all string) {
	m.flags = true
	c.text(&m.match, "match", config.KindPattern, "the listed jobs whose names match (*, ?, [a-z])")
	c.toggle(&m.all, "all", all)
}

func (m *jobsMeant) listed() bool { return m.all || m.match != "" }

// words returns the flags that choose listed jobs, as a user types them.
func (m *jobsMeant) words() string {
	if m.all {
		return " --all"
	}
	return " --match " + explain.ShellWord(m.match)
}

// check refuses a choice of no jobs, and a choice by names and flags at once.
func (m *jobsMeant) check(command string, names []string) error {
	switch said := len(names) > 0; {
	case said && m.listed(), m.all && m.match != "":
		return config.Usagef("NAME, --match and --all contradict each other").
			Hint("use only one of them")
	case !said && !m.listed() && !m.flags:
		return config.Usagef("NAME is missing").Hint("redlockrun " + command + " NAME...")
	case !said && !m.listed():
		return config.Usagef("NAME is missing").
			Hint("redlockrun " + command + " NAME..., or --match 'PATTERN', or --all")
	}
	if _, err := path.Match(m.match, ""); err != nil {
		return config.Usagef("--match: the pattern is malformed").
			Hint("use a shell pattern: *, ?, [a-z], and \\ before a literal character")
	}
	return nil
}

// names returns the chosen jobs, sorted: names, or the listed jobs that match. It tells how many
// jobs are known. If none is chosen it returns an error.
func (m *jobsMeant) names(o *Operation, names []string) ([]string, error) {
	if !m.listed() {
		return distinct(names), nil
	}
	jobs, err := o.inspector()
	if err != nil {
		return nil, err
	}
	read := looking(o, func(ctx context.Context) ([]string, error) { return jobs.Names(ctx, false) })
	seen, err := interrupt.Run(o.Signals, read)
	if err != nil {
		return nil, err
	}
	o.warnAll(seen.silent)
	known := seen.value
	meant := m.of(known)
	if len(meant) == 0 {
		return nil, m.noneMeant(len(known), o.About.Where())
	}
	o.note(m.matched(len(meant), len(known)) + " (" + o.About.Where() + ")")
	return meant, nil
}

// of returns the chosen ones of the listed names.
func (m *jobsMeant) of(listed []string) (meant []string) {
	for _, name := range listed {
		if m.all || matches(m.match, name) {
			meant = append(meant, name)
		}
	}
	return meant
}

// none says that no job is chosen, out of so many known ones.
func (m *jobsMeant) none(known int) (text, hint string) {
	if known == 0 {
		return "no job is known here", "a job is listed after its first run; redlockrun status --scan finds locks"
	}
	return fmt.Sprintf("no job matches %q; %d are known here", m.match, known), "redlockrun status lists them"
}

// noneMeant returns an error, which stops an && list: a deploy that has paused nothing must not
// begin.
func (m *jobsMeant) noneMeant(known int, where string) error {
	text, hint := m.none(known)
	o := explain.Failure(explain.StatusBusy, text+" ("+where+")", hint)
	o.Event = console.EventRefused
	return &unmadeError{Explanation: o}
}

func (m *jobsMeant) matched(meant, known int) string {
	if m.all {
		return fmt.Sprintf("all %d jobs that are known here", known)
	}
	return fmt.Sprintf("%d of the %d jobs that are known here match %q", meant, known, m.match)
}

// matches reports whether a name matches a pattern of a shell. In both / is an ordinary character.
func matches(pattern, name string) bool {
	const slash = "\x00" // no name has it
	fits, _ := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(name, "/", slash))
	return fits
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

package operator

import (
	"cmp"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
)

// HelpText returns the text of the command's --help.
func (c *Command) HelpText() string {
	var b strings.Builder
	b.WriteString(c.Long + "\n\nusage:\n" + c.Calls + "\n")
	if c.Remarks != "" {
		b.WriteString("\n" + c.Remarks + "\n")
	}
	if own := c.OwnFlags(); len(own) > 0 {
		b.WriteString("\nflags:\n")
		for _, f := range own {
			b.WriteString(flagset.Help(f.Shorthand, flagset.KindOf(f).Flag(f.Name), f.Usage))
		}
	}
	if c.Notes != "" {
		b.WriteString("\n" + c.Notes + "\n")
	}
	b.WriteString("\nexamples:\n" + c.Example + "\n")
	if !c.Bare {
		b.WriteString(sharedHelp() + "\nexit status: " + c.ExitStatus() + "\n")
	}
	return b.String()
}

// ExitStatus returns the help's text on the exit statuses.
func (c *Command) ExitStatus() string { return cmp.Or(c.Status, usualStatus) }

const usualStatus = `0 done, 64 usage, 65 a key is none of ours, 69 no answer from Redis,
75 refused, or the time of --wait is over.`

// sharedHelp returns the help on the settings that all commands have, except those that are Bare.
func sharedHelp() string {
	return `
D is a duration: seconds (60, 0.5) or 90s, 2m30s.

where the jobs are:
` + flagNames(config.GroupStore) + `
messages, on stderr only:
` + flagNames(config.GroupMessages) + `
These have variables and lines in /etc/default/redlockrun, as for a run (redlockrun --help tells
what they mean). Times are the server's, in this host's time zone; in JSON in UTC.

  -h, --help                   print this
`
}

// flagNames returns the flags of a group that all commands have, as lines.
func flagNames(group config.Group) string {
	var lines strings.Builder
	line := "     "
	for _, s := range config.OperatorSettings() {
		if s.Group != group {
			continue
		}
		name := flagset.Lettered(s.Short, s.Flag())
		if len(line)+len(name) > 94 {
			lines.WriteString(line + "\n")
			line = "     "
		}
		line += " " + name + ","
	}
	return lines.String() + strings.TrimSuffix(line, ",") + "\n"
}

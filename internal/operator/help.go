package operator

import (
	"cmp"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
)

// briefLines is how long a short help may be.
const briefLines = 40

// BriefHelp returns the text of -h: the whole help if it is short, else its most important parts.
func (c *Command) BriefHelp() string {
	if all := c.HelpText(); strings.Count(all, "\n") <= briefLines {
		return all
	}
	return c.Long + "\n\nusage:\n" + c.Calls + "\n" + c.flagsHelp() + "\nexamples:\n" + c.Example +
		"\n\nmore: redlockrun help " + c.Name() + ", man redlockrun-" + c.Name() + "\n"
}

// HelpText returns the text of the command's --help.
func (c *Command) HelpText() string {
	var b strings.Builder
	b.WriteString(c.Long + "\n\nusage:\n" + c.Calls + "\n")
	if c.Remarks != "" {
		b.WriteString("\n" + c.Remarks + "\n")
	}
	b.WriteString(c.flagsHelp())
	if c.Notes != "" {
		b.WriteString("\n" + c.Notes + "\n")
	}
	b.WriteString("\nexamples:\n" + c.Example + "\n")
	if !c.Bare {
		b.WriteString(sharedHelp())
	}
	return b.String() + "\nexit status: " + c.ExitStatus() + "\n"
}

// flagsHelp returns the lines of the flags that not every command has.
func (c *Command) flagsHelp() string {
	var b strings.Builder
	for i, f := range c.OwnFlags() {
		if i == 0 {
			b.WriteString("\nflags:\n")
		}
		b.WriteString(flagset.Help(f.Shorthand, flagset.KindOf(f).Flag(f.Name), f.Usage))
	}
	return b.String()
}

// ExitStatus returns the help's text on the exit statuses.
func (c *Command) ExitStatus() string { return cmp.Or(c.Status, usualStatus) }

const usualStatus = `0 done, 64 usage, 65 not a key of redlockrun, 69 Redis did not answer,
75 refused, or --wait is over.`

// sharedHelp returns the help on the settings that all commands have, except those that are Bare.
func sharedHelp() string {
	return `
D is a duration: seconds (60, 0.5), or with units (90s, 2m30s).

where the jobs are:
` + flagNames(config.GroupStore) + `
messages, on stderr only:
` + flagNames(config.GroupMessages) + `
redlockrun --help explains these flags. They have variables and lines in /etc/default/redlockrun.
Times come from the server. They are shown in local time, in JSON in UTC.

  -h, --help                   print a short help, or this
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

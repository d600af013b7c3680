package main

import (
	"fmt"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
)

// introduction is printed for redlockrun without arguments, before the error.
const introduction = `redlockrun runs a command while holding a lock in Redis: on however many hosts
it is started, it runs once at a time, and its exit status comes out.

  redlockrun --key backup -- pg_dump -f shop.sql shop
  redlockrun --key orders --once-per 5m -- php cancel_orders.php  # each tick once, in the fleet
  redlockrun status                                               # which job runs where

More: redlockrun --help, man redlockrun.
`

const helpHead = `redlockrun runs a command while holding a lock in Redis: never two at once, never a stale lock, and
the command's own exit status.

  redlockrun --key NAME [flags] [--] COMMAND [ARG...]
  redlockrun --key NAME [flags] -c 'SHELL TEXT'
  redlockrun help [COMMAND OF AN OPERATOR]

for operators (redlockrun status --help and so on tell more):
`

const helpTail = `
  -h, --help                   print this
      --version                print the version

D is a duration: seconds (60, 0.5) or 90s, 2m30s. Each flag has a variable, --ttl REDLOCKRUN_TTL.
A flag wins over the environment, that over /etc/default/redlockrun or what REDLOCKRUN_CONFIG names.

exit status: the command's own, or 64 usage, 65 the key is no lock, 69 no answer from Redis, 71 no
resources, 75 the lock stayed busy, the job is paused, or its slot's tries are used up, 76 it was
lost, 124 --max-runtime, 126 and 127 COMMAND cannot be run, 128+n signal n; 0 if its slot is done.

examples:
  redlockrun --key backup -- pg_dump -f /srv/backup.sql shop
  redlockrun --key report --wait 5m -c 'make report | mail -s report ops'
  */5 * * * * redlockrun --key orders --once-per 5m -E 0 -- php cancel_orders.php
`

// help returns the text of --help.
func help() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, c := range operator.All() {
		fmt.Fprintf(&b, "  %-12s%s\n", c.Name(), c.Short)
	}
	for group := range config.GroupCount {
		b.WriteString("\n" + group.String() + ":\n")
		if group == config.GroupCommand {
			fmt.Fprintf(&b, "  %-29s%s\n", "-c 'SHELL TEXT'", "run SHELL TEXT by /bin/sh -c, in place of COMMAND")
		}
		for _, s := range config.Settings() {
			if s.Group == group {
				b.WriteString(flagHelp(s))
			}
		}
	}
	b.WriteString(helpTail)
	return b.String()
}

// flagHelp returns the lines of a flag, with its default.
func flagHelp(s config.Setting) string {
	usage := s.Usage
	if s.Default != "" && !strings.Contains(usage, "("+s.Default) && !strings.Contains(usage, s.Default+")") {
		usage += " (" + s.Default + ")"
	}
	return flagset.Help(s.Short, s.Flag(), usage)
}

// showHelp prints the help of the program, or of one of its commands.
func showHelp(words []string) error {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || words[0] == helpCommand {
		return show(help())
	}
	if c := operator.Named(words[0]); c != nil {
		return show(c.HelpText())
	}
	err := config.Usagef("redlockrun has no command of that name")
	if meant := similarCommand(words[0]); meant != "" {
		return err.Hint("did you mean redlockrun help " + meant + "?")
	}
	return err.Hint("redlockrun --help lists the commands")
}

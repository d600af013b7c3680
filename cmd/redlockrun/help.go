package main

import (
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
	"redlockrun/internal/topic"
)

// introduction is printed for redlockrun without arguments, before the error.
const introduction = `redlockrun runs a command while it holds a lock in Redis. Start it on every
host: only one copy runs at a time. Its exit status is that of the command.

  redlockrun --key backup -- pg_dump -f shop.sql shop
  redlockrun --key orders --once-per 5m -- php cancel_orders.php  # once per tick, in the fleet
  redlockrun status                                               # which job runs where

More: redlockrun -h, man redlockrun.
`

const helpHead = `redlockrun runs a command while it holds a lock in Redis. Start it on every host: only one copy
runs at a time. Its exit status is that of the command.

usage:
  redlockrun --key NAME [flags] [--] COMMAND [ARG...]
  redlockrun --key NAME [flags] -c 'SHELL TEXT'
`

const briefTail = `  -h, --help                   print this page; --help prints all flags and commands

D is a duration: seconds (60, 0.5), or with units (90s, 2m30s).

examples:
  redlockrun --key backup -- pg_dump -f /srv/backup.sql shop
  redlockrun --key report --wait 5m -c 'make report | mail -s report ops'
  */5 * * * * redlockrun --key orders --once-per 5m -E 0 -- php cancel_orders.php

more:
  redlockrun --help            all flags and commands
  redlockrun help status       one command: status, history, pause, doctor, ...
  redlockrun help exit-codes   also: environment, recipes, times
  man redlockrun               the manual
`

const helpTail = `
  -h, --help                   print a short help, or this
      --version                print the version

D is a duration: seconds (60, 0.5), or with units (90s, 2m30s). Each flag has a variable: --ttl has
REDLOCKRUN_TTL. The flag counts first, then the variable, then /etc/default/redlockrun.

exit status: the command's own, or 64 usage, 65 not a lock, 69 Redis did not answer;
71 no resources, 75 busy, paused, or no tries left, 76 the lock was lost, 124 --max-runtime;
126 not executable, 127 not found, 128+n signal n (redlockrun help exit-codes).

examples:
  redlockrun --key backup -- pg_dump -f /srv/backup.sql shop
  redlockrun --key report --wait 5m -c 'make report | mail -s report ops'
  */5 * * * * redlockrun --key orders --once-per 5m -E 0 -- php cancel_orders.php
`

// briefFlags are the flags of the short help, in its order.
var briefFlags = []string{"key", "wait", "conflict-exit-code", "once-per", "max-runtime", "attempts", "ttl", "on-lost",
	"redis", "local", "report-file", "verbose"}

// briefHelp returns the text of -h.
func briefHelp() string {
	var b strings.Builder
	b.WriteString(helpHead + "\nflags that are needed most:\n")
	for _, name := range briefFlags {
		all := config.Settings()
		s := all[slices.IndexFunc(all, func(s config.Setting) bool { return s.Name == name })]
		s.Usage, _, _ = strings.Cut(s.Usage, "\n")
		b.WriteString(flagHelp(s))
	}
	return b.String() + briefTail
}

// help returns the text of --help.
func help() string {
	var b strings.Builder
	b.WriteString(helpHead + "\ncommands for operators (redlockrun help COMMAND):\n")
	for _, c := range operator.All() {
		fmt.Fprintf(&b, "  %-12s%s\n", c.Name(), c.Short)
	}
	b.WriteString("\ntopics:\n")
	for _, t := range topic.All() {
		fmt.Fprintf(&b, "  redlockrun help %-13s%s\n", t.Name, t.Short)
	}
	for group := range config.GroupCount {
		b.WriteString("\n" + group.String() + ":\n")
		if group == config.GroupCommand {
			fmt.Fprintf(&b, "  %-29s%s\n", "-c 'SHELL TEXT'", "run SHELL TEXT with /bin/sh -c")
		}
		for _, s := range config.Settings() {
			if s.Group == group {
				b.WriteString(flagHelp(s))
			}
		}
	}
	return b.String() + helpTail
}

// flagHelp returns the lines of a flag, with its default.
func flagHelp(s config.Setting) string {
	usage, more, several := strings.Cut(s.Usage, "\n")
	if s.Default != "" && !strings.Contains(usage, "("+s.Default) && !strings.Contains(usage, s.Default+")") {
		usage += " (" + s.Default + ")"
	}
	if several {
		usage += "\n" + more
	}
	return flagset.Help(s.Short, s.Flag(), usage)
}

// showHelp prints the help of the program, of one of its commands, or a topic.
func showHelp(words []string) error {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || words[0] == helpCommand {
		return show(help())
	}
	if c := operator.Named(words[0]); c != nil {
		return show(c.HelpText())
	}
	if t, known := topic.Named(words[0]); known {
		return show(t.Text)
	}
	err := config.Usagef("redlockrun has no command or topic of that name")
	if meant := similarWord(words[0], append(topic.Names(), operator.Names()...)); meant != "" {
		return err.Hint("did you mean redlockrun help " + meant + "?")
	}
	return err.Hint("the topics are " + strings.Join(topic.Names(), ", ") + "; redlockrun --help lists the commands")
}

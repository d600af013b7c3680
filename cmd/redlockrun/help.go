package main

import (
	"fmt"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/operator"
)

// introduction is what redlockrun alone prints before it says what is missing.
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

// help is what --help prints.
func help() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for i := range operator.Commands {
		c := &operator.Commands[i]
		fmt.Fprintf(&b, "  %-12s%s\n", c.Name, c.Summary())
	}
	fmt.Fprintf(&b, "  %-12s%s\n", completionWord, completionSummary)
	fmt.Fprintf(&b, "  %-12s%s\n", copyWord, copySummary)
	for group := range config.GroupCount {
		b.WriteString("\n" + group.String() + ":\n")
		if group == config.GroupCommand {
			fmt.Fprintf(&b, "%-*s%s\n", helpColumn, "  -c 'SHELL TEXT'", "run SHELL TEXT by /bin/sh -c, in place of COMMAND")
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

// helpColumn is where what a flag means begins.
const helpColumn = 31

// flagHelp is the lines of a flag.
func flagHelp(s config.Setting) string {
	name := "      " + s.Flag()
	if s.Short != "" {
		name = "  -" + s.Short + ", " + s.Flag()
	}
	lines := strings.Split(s.Usage, "\n")
	if last := len(lines) - 1; s.Default != "" && !strings.Contains(s.Usage, "("+s.Default) && !strings.Contains(s.Usage, s.Default+")") {
		lines[last] += " (" + s.Default + ")"
	}
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		lines[i] = fmt.Sprintf("%-*s%s\n", helpColumn, name+"  ", line)
	}
	return strings.Join(lines, "")
}

// showHelp prints the help of the program, or of one of its commands.
func showHelp(words []string) error {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || words[0] == helpWord {
		return show(help())
	}
	switch words[0] {
	case completionWord:
		return show(completionHelp)
	case copyWord:
		return show(copyHelp)
	}
	if c := operator.Named(words[0]); c != nil {
		return show(c.Text())
	}
	err := config.Usagef("redlockrun has no command of that name")
	if meant := commandLike(words[0]); meant != "" {
		return err.Hint("did you mean redlockrun help " + meant + "?")
	}
	return err.Hint("redlockrun --help lists the commands")
}

package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// ownFlags are those without a variable.
type ownFlags struct {
	help, version *bool
	shell         *string
}

func defineOwn(flags *pflag.FlagSet) ownFlags {
	for name, why := range refusals {
		flags.VarPF(refused{why}, name, "", "refused").NoOptDefVal = "-" // without a value, too
	}
	return ownFlags{
		help:    flags.BoolP("help", "h", false, "print the help"),
		version: flags.Bool("version", false, "print the version"),
		shell:   flags.StringP("command", "c", "", "a text for /bin/sh -c"),
	}
}

// refused is a flag that other tools have, and that could mean two things here.
type refused struct{ why *usageError }

var refusals = map[string]*usageError{
	"timeout": usagef("there is no --timeout: flock(1) waits by it, timeout(1) ends the command by it").
		hint("--wait waits for the lock, --max-runtime ends the command"),
	"retries": usagef("there is no --retries: with other tools it starts a failed command again").
		hint("--lock-retries asks for the lock again; a command that failed is not started again"),
}

func (r refused) Set(string) error { return r.why }
func (r refused) String() string   { return "" }
func (r refused) Type() string     { return "value" }

// A commandLine is what shall be run, as it was given.
type commandLine struct {
	operands []string
	shell    *string // the text of -c; nil without
}

func (f ownFlags) command(flags *pflag.FlagSet, operands []string) commandLine {
	if !flags.Changed("command") {
		return commandLine{operands: operands}
	}
	return commandLine{operands, f.shell}
}

func (c commandLine) argv() ([]string, error) {
	switch {
	case c.shell == nil && len(c.operands) == 0:
		return nil, usagef("no command was given").hint("redlockrun --key NAME -- COMMAND, or -c 'SHELL TEXT'")
	case c.shell == nil:
		return c.operands, nil
	case len(c.operands) > 0:
		return nil, usagef("there is a command besides -c").hint("quote the whole text: -c 'COMMAND ARG...'")
	case strings.TrimSpace(*c.shell) == "":
		return nil, usagef("-c is empty").hint("-c 'SHELL TEXT' runs the text by /bin/sh -c")
	}
	return []string{"/bin/sh", "-c", *c.shell}, nil
}

// explainFlags says what pflag found wrong in our own words: pflag quotes the
// argument, and a password may be in it.
func explainFlags(err error) error {
	var (
		usage   *usageError
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &usage):
		return usage
	case errors.As(err, &unknown):
		return unknownFlag(unknown)
	case errors.As(err, &missing):
		return usagef("%s needs a value", dashed(missing.GetSpecifiedName())).hint(helpHint)
	}
	return usagef("a flag is badly written").hint(helpHint)
}

const helpHint = "redlockrun --help lists the flags"

func unknownFlag(e *pflag.NotExistError) error {
	name := e.GetSpecifiedName()
	if typed := e.GetSpecifiedShortnames(); typed != "" {
		name = name[:1]
		if meant := resembling(typed); meant != helpHint { // one dash for two
			return usagef("there is no flag %s", dashed(name)).hint(meant)
		}
	}
	return usagef("there is no flag %s", dashed(name)).hint(resembling(name))
}

// dashed is a flag as it was typed, if it can be a flag at all: whoever forgets
// the blank in --redis URL types a password into its name.
func dashed(name string) string {
	if strings.Trim(name, flagLetters) != "" || len(name) > 30 {
		return "of that name"
	}
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

const flagLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// resembling names the flag that was probably meant.
func resembling(name string) string {
	if meant, ok := flockFlags[name]; ok {
		return meant
	}
	for _, s := range settings() {
		if len(name) > 2 && (distance(name, s.name) <= 2 || strings.HasPrefix(s.name, name) || strings.HasSuffix(s.name, "-"+name)) {
			return "did you mean --" + s.name + "?"
		}
	}
	return helpHint
}

// flockFlags are what users of flock(1) and timeout(1) try.
var flockFlags = map[string]string{
	"s":          "there are no shared locks: redlockrun's are exclusive",
	"shared":     "there are no shared locks: redlockrun's are exclusive",
	"x":          "the lock is exclusive, and needs no flag for it",
	"exclusive":  "the lock is exclusive, and needs no flag for it",
	"nb":         "did you mean --nonblock?",
	"kill-after": "did you mean --grace?",
	"lock":       "did you mean --key?",
	"name":       "did you mean --key?",
	"url":        "did you mean --redis?",
}

// distance is the number of letters to insert, delete or replace to make b of
// a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

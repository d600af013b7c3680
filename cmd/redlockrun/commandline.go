package main

import (
	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"strings"

	"github.com/spf13/pflag"
)

// ownFlags are the flags without a variable.
type ownFlags struct {
	help, version bool
	shell         string
}

func defineOwn(flags *pflag.FlagSet) *ownFlags {
	flagset.DefineRefused(flags)
	own := new(ownFlags)
	flags.Usage = func() {} // pflag calls it for -h, which is no flag of ours: its error asks for the short help
	flagset.Switch(flags, &own.help, "help", "", "print all flags and commands")
	flagset.Switch(flags, &own.version, "version", "", "print the version")
	flagset.Text(flags, &own.shell, "command", "c", config.KindShellText, "a text for /bin/sh -c")
	return own
}

// A commandLine is the command to run, as the user gave it.
type commandLine struct {
	operands []string
	shell    *string // the text of -c; nil without it
}

func (f *ownFlags) command(flags *pflag.FlagSet, operands []string) commandLine {
	if !flags.Changed("command") {
		return commandLine{operands: operands}
	}
	return commandLine{operands, &f.shell}
}

func (c commandLine) argv() ([]string, error) {
	switch {
	case c.shell == nil && len(c.operands) == 0:
		return nil, config.Usagef("no command was given").Hint("redlockrun --key NAME -- COMMAND, or -c 'SHELL TEXT'")
	case c.shell == nil:
		return c.operands, nil
	case len(c.operands) > 0:
		return nil, config.Usagef("-c and COMMAND cannot be combined").Hint("quote the whole text: -c 'COMMAND ARG...'")
	case strings.TrimSpace(*c.shell) == "":
		return nil, config.Usagef("-c is empty").Hint("-c 'SHELL TEXT' runs the text by /bin/sh -c")
	}
	return []string{"/bin/sh", "-c", *c.shell}, nil
}

const helpHint = "redlockrun --help lists the flags"

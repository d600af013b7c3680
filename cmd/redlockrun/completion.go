package main

import (
	_ "embed" // the scripts
	"strings"

	"redlockrun/internal/config"
)

const completionHelp = `redlockrun completion prints what bash, zsh or fish completes the command line of redlockrun by: flags
and their values, commands, the names of jobs, and COMMAND as it would be completed alone.

usage:
  redlockrun completion bash|zsh|fish

examples:
  redlockrun completion bash > /etc/bash_completion.d/redlockrun
  redlockrun completion zsh > "${fpath[1]}/_redlockrun"
  redlockrun completion fish > ~/.config/fish/completions/redlockrun.fish

Names of jobs come from Redis, if it answers in time; nothing of what is typed is evaluated.
`

// completionSummary is what the help says of it.
const completionSummary = "prints what a shell completes a command line by"

//go:embed completion/redlockrun.bash
var bashScript string

//go:embed completion/redlockrun.zsh
var zshScript string

//go:embed completion/redlockrun.fish
var fishScript string

// shells are those that can be completed in.
func shells() []string { return []string{"bash", "zsh", "fish"} }

// showCompletion prints the script of a shell.
func showCompletion(words []string) error {
	switch strings.Join(words, " ") {
	case "bash":
		return show(bashScript)
	case "zsh":
		return show(zshScript)
	case "fish":
		return show(fishScript)
	case "-h", "--help":
		return show(completionHelp)
	}
	return config.Usagef("completion is for one of %s", strings.Join(shells(), ", ")).
		Hint("redlockrun completion bash; redlockrun completion --help says where it belongs")
}

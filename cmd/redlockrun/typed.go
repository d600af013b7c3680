package main

import (
	"strings"

	"redlockrun/internal/lock"
)

// typed is a command of redlockrun's, as it is typed for a job.
func typed(command string, names ...string) string {
	words := []string{"redlockrun", command}
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			words = append(words, "--")
			break
		}
	}
	for _, name := range names {
		words = append(words, shellWord(name))
	}
	return strings.Join(words, " ")
}

// shellWord is a name as a shell takes it, fit for a terminal.
func shellWord(name string) string {
	if strings.Trim(name, wordLetters) == "" && name != "" {
		return name
	}
	return "'" + strings.ReplaceAll(lock.Plain(name), "'", `'\''`) + "'"
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+,%="

package main

import (
	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
)

// explainMissingKey returns the error for a line that names no lock, if its intention is clear;
// otherwise nil. A user who typed nothing at all gets an introduction to redlockrun.
func (p *program) explainMissingKey(from *config.Sources, argv []string) error {
	if from.EffectiveValue("key") != "" || from.EffectiveValue("key-from-command") != "" {
		return nil
	}
	if len(argv) == 0 {
		p.showIntroduction(from)
		return nil
	}
	word, meant := explain.ShellWord(argv[0]), similarCommand(argv[0])
	switch {
	case meant == "":
		return nil
	case meant == argv[0]:
		return config.Usagef("no key was given: after flags, %s is COMMAND", word).
			Hint("an operator command is the first word: redlockrun " + meant + " [flags]")
	}
	return config.Usagef("no key was given, and %s is not an operator command", word).
		Hint("did you mean redlockrun " + meant + "?").
		Hint("to run it under a lock: redlockrun --key NAME -- " + word)
}

// showIntroduction explains redlockrun to a person who typed nothing else.
func (p *program) showIntroduction(from *config.Sources) {
	m, err := from.Messages()
	if len(p.flagValues.Words()) == 0 && err == nil && !m.JSON && console.LevelOf(m.Level) < console.Error {
		p.write([]byte(introduction))
	}
}

// similarCommand returns the operator command that a word was probably meant for; "" for none.
func similarCommand(word string) string {
	return similarWord(word, append(operator.Names(), helpCommand))
}

// similarWord returns the name that a word was probably meant for; "" for none.
func similarWord(word string, names []string) (meant string) {
	least := flagset.MostTypos + 1
	for _, name := range names {
		if far := flagset.Typos(word, name); len(word) > 2 && far < least {
			least, meant = far, name
		}
	}
	return meant
}

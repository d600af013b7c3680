package config

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// key returns --key, or a key made of the command's words; command is nil if there is none.
func (r *parser) key(command []string) string {
	g := r.effective("key", "key-from-command")
	switch {
	case !g.isSet():
		r.fail(Usagef("no key was given").
			Hint("redlockrun --key NAME -- COMMAND; two runs with the same NAME exclude each other"))
		return ""
	case g.name == "key-from-command" && r.isSwitch(g):
		return r.keyOf(command)
	}
	if problem := keyProblem(g.last(), maxKey); problem != "" {
		r.fail(Usagef("%s %s", g.sourceName, problem).
			Hint("a key is valid UTF-8, 1 to 512 bytes, without control characters"))
	}
	return g.last()
}

// keyOf distinguishes two commands by all of their words; its name tells people what it is.
func (r *parser) keyOf(command []string) string {
	if command == nil {
		return ""
	}
	all := sha256.New()
	for _, word := range command {
		all.Write([]byte(word + "\x00"))
	}
	key := filepath.Base(command[0]) + "-" + hex.EncodeToString(all.Sum(nil)[:8])
	if problem := keyProblem(key, maxKey); problem != "" {
		r.fail(Usagef("--key-from-command: the command's name %s", problem).
			Hint("give it a name of its own: --key NAME"))
	}
	return key
}

package config

import (
	"strconv"
	"strings"

	"redlockrun/internal/lock"
)

// size reads a number of bytes that can be kept of an output, 0 for none.
func (r *parser) size(name string) int {
	g := r.effective(name)
	if !g.isSet() || g.last() == "0" {
		return 0
	}
	digits, unit := g.last(), 1
	if kibibytes, ok := strings.CutSuffix(strings.ToLower(digits), "k"); ok {
		digits, unit = kibibytes, 1<<10
	}
	n, err := strconv.ParseUint(digits, 10, 20)
	size := int(n) * unit
	if err != nil || size < lock.MinOutput || size > lock.MaxOutput {
		r.fail(Usagef("%s: %s is not a valid size", g.sourceName, quotable(g.last())).
			Hint("use 1k to 64k, or 0 to keep no output"))
	}
	return size
}

// checkOutput refuses to keep what the command prints where nothing is remembered of its run.
func (c Config) checkOutput() error {
	if c.KeepOutput == 0 || c.History > 0 && !c.Address.Local {
		return nil
	}
	g, err := c.sources.effective("keep-output")
	if err != nil {
		return err
	}
	without, why := "--history 0", "this run is not recorded"
	if c.Address.Local {
		without, why = c.Address.From, "a local lock file keeps no history"
	}
	return Usagef("%s and %s cannot be combined: %s", g.sourceName, without, why).Hint("--keep-output 0 turns it off")
}

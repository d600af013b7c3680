package lock

import "strings"

// DefaultPrefix is before each key, unless OpenConfig says otherwise.
const DefaultPrefix = "redlockrun:"

// checkPrefix refuses a prefix that would move the hash tag away from the lock's name.
func checkPrefix(prefix string) error {
	if strings.ContainsAny(prefix, "{}") {
		return &ConfigError{Subject: "the prefix", Problem: "it has a brace in it"}
	}
	return nil
}

// tombstone is how long an acquire that was given up without an answer may
// still be under way.
const tombstone = 60_000 // ms

// keys are the names in Redis of one lock, for one run.
type keys struct{ lock, fence, line, who, gone string }

// all are the keys as the steps that know the line want them.
func (k keys) all() []string { return []string{k.lock, k.fence, k.line, k.who, k.gone} }

// channel is where a run is told that it is its turn.
func (k keys) channel(run string) string { return k.lock + ":" + run }

// braces keep the name of the lock the hash tag of each key, so that all of
// them live in one slot of a cluster.
var braces = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

func keysOf(prefix, name, run string) keys {
	lock := prefix + "{" + braces.Replace(name) + "}"
	return keys{lock: lock, fence: lock + ":fence", line: lock + ":line", who: lock + ":who", gone: lock + ":gone:" + run}
}

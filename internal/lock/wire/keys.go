package wire

import (
	"strings"

	"redlockrun/internal/lock"
)

// Keys are the names in Redis of one lock, for one run.
//
// Lock, Fence, Queue and Waiters are the lock; Slots, Paused and, in a quorum, Resumed the policy,
// which decides what may start; Job, Runs and Bad the ledger, which decides nothing, and Output what commands printed.
// Gone is the tombstone of the run. Jobs is the set of names, the only key that has not the hash tag of the lock.
type Keys struct{ Lock, Fence, Queue, Waiters, Tombstone, Slots, Paused, Resumed, Job, Runs, Bad, Output, Jobs string }

// All are the keys in the order in which the steps of runs have them: see internal/lock/step/prelude.lua.
func (k Keys) All() []string {
	return []string{k.Lock, k.Fence, k.Tombstone, k.Paused, k.Resumed, k.Slots, k.Job, k.Runs, k.Bad, k.Queue,
		k.Waiters}
}

// OfOperator are the keys in the order in which the steps of operators have them.
func (k Keys) OfOperator() []string { return append(k.All(), k.Output) }

// KeyCount is how many keys the steps of runs and operators have.
const KeyCount = 11

// Channel is where a run is told that it is its turn.
func (k Keys) Channel(run string) string { return k.Lock + ":" + run }

// braces keep the name of the lock the hash tag of each key, so that all of
// them live in one slot of a cluster.
var braces = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

// unbraced undoes braces.
var unbraced = strings.NewReplacer("%25", "%", "%7B", "{", "%7D", "}")

// MaxName is the most bytes that the name of a lock has.
const MaxName = 512

// NameOf returns the name of the lock that a key belongs to, with its part; "" if it is not a lock's
// key. Any client may have made the key.
func NameOf(prefix, key string) string {
	rest, ok := strings.CutPrefix(key, prefix+"{")
	tag, kind, closed := strings.Cut(rest, "}")
	name := unbraced.Replace(tag)
	if !ok || !closed || name == "" || len(name) > MaxName || braces.Replace(name) != tag {
		return ""
	}
	if n := strings.IndexByte(kind+":", ':'); strings.HasPrefix(kind, "/") {
		name, kind = lock.PartOf(name, kind[1:n]), kind[n:]
	}
	switch kind {
	case "", ":fence", ":queue", ":waiters", ":slots", ":paused", ":resumed", ":job", ":runs", ":bad", ":output":
		return name
	}
	return ""
}

// KeysOf names the keys of the lock called name, for a run. A part stands behind the hash tag, so
// the locks of one name are in one slot.
func KeysOf(prefix, name, run string) Keys {
	name, part := lock.SplitPart(name)
	lock := prefix + "{" + braces.Replace(name) + "}"
	if part != "" {
		lock += "/" + part
	}
	return Keys{
		Lock: lock, Fence: lock + ":fence", Queue: lock + ":queue", Waiters: lock + ":waiters",
		Tombstone: lock + ":gone:" + run,
		Slots:     lock + ":slots", Paused: lock + ":paused", Resumed: lock + ":resumed", Job: lock + ":job",
		Runs: lock + ":runs",
		Bad:  lock + ":bad", Output: lock + ":output", Jobs: prefix + "jobs",
	}
}

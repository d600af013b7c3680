package lock

import (
	_ "embed"
	"strings"
)

// The three steps, each atomic in the server. EVAL and not EVALSHA: a run uses
// each but renew once, and a server that has forgotten its scripts is no case.
var (
	//go:embed acquire.lua
	acquireLua string
	//go:embed renew.lua
	renewLua string
	//go:embed release.lua
	releaseLua string
)

// MinimalACL is all that a Redis user needs to run jobs with the default
// prefix, as ACL SETUSER takes it; a database other than 0 needs +select too.
const MinimalACL = "~redlockrun:* +eval +del +getrange +pexpire +pttl +set +time"

// DefaultPrefix is before each key, unless OpenConfig says otherwise.
const DefaultPrefix = "redlockrun:"

// tombstone is how long an acquire that was given up without an answer may
// still be under way.
const tombstone = 60_000 // ms

// keys are the names in Redis of one lock, for one run.
type keys struct{ lock, fence, gone string }

// braces keep the name of the lock the hash tag of each key, so that all of
// them live in one slot of a cluster.
var braces = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

func keysOf(prefix, name, run string) keys {
	lock := prefix + "{" + braces.Replace(name) + "}"
	return keys{lock: lock, fence: lock + ":fence", gone: lock + ":gone:" + run}
}

package lock

import (
	_ "embed"
	"strings"
	"sync"
)

// The steps, each atomic in the server. EVAL and not EVALSHA: a run uses
// each but renew and confirm once, and a server that has forgotten its scripts is no case.
var (
	//go:embed run.lua
	runLua string
	//go:embed line.lua
	lineLua string
	//go:embed acquire.lua
	acquireLua string
	//go:embed confirm.lua
	confirmLua string
	//go:embed renew.lua
	renewLua string
	//go:embed release.lua
	releaseLua string

	runPart, linePart = strip(&runLua), strip(&lineLua)

	acquireStep = join(runPart, linePart, strip(&acquireLua))
	confirmStep = join(runPart, strip(&confirmLua))
	releaseStep = join(runPart, linePart, strip(&releaseLua))
)

// strip leaves out what only the readers of a part need. It is done when the
// part is first needed: a run needs few of them.
func strip(part *string) func() string {
	return sync.OnceValue(func() string {
		var out strings.Builder
		out.Grow(len(*part)) // in one piece: each page that is touched costs a microsecond or two
		for line := range strings.Lines(*part) {
			code, _, _ := strings.Cut(line, "--")
			if code = strings.TrimSpace(code); code != "" {
				out.WriteString(code)
				out.WriteByte('\n')
			}
		}
		return out.String()
	})
}

func join(parts ...func() string) func() string {
	return sync.OnceValue(func() string {
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = part()
		}
		return strings.Join(texts, "")
	})
}

// MinimalACL is all that a Redis user needs to run jobs with the default
// prefix, as ACL SETUSER takes it; a database other than 0 needs +select too.
const MinimalACL = "~redlockrun:* +eval +del +getrange +pexpire +pttl +set +time +zrange"

// WaitingACL is what all users of a lock need beside it if one of them waits.
const WaitingACL = "&redlockrun:* +hdel +hget +hset +publish +pubsub|numsub +subscribe +zadd +zcard +zrank +zrem"

// ReplicasACL is what OpenConfig.Replicas needs beside it.
const ReplicasACL = "+wait"

// ClusterACL is what a user in a Cluster needs beside it, so that a job goes on
// while its slot moves. ClusterNodesACL lets a holder know the nodes that its URL
// does not name; it is not needed.
const (
	ClusterACL      = "+asking"
	ClusterNodesACL = "+cluster|slots"
)

// SentinelACL is all that a user of the sentinels needs. With SentinelEpochACL
// too, the later of two configurations wins when as many sentinels know either.
const (
	SentinelACL      = "+sentinel|get-master-addr-by-name"
	SentinelEpochACL = "+sentinel|master"
)

// DefaultPrefix is before each key, unless OpenConfig says otherwise.
const DefaultPrefix = "redlockrun:"

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

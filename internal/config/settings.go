package config

import (
	"slices"
	"strings"

	"redlockrun/internal/lock"
)

// A Setting is set by a flag, a variable or the configuration file. Help, manual and completions
// come from this table.
type Setting struct {
	Name    string // the flag's
	Short   string // the flag's letter; "" for none
	Kind    Kind   // of the flag's value
	Default string // the default value; "" for none
	Usage   string // one or more lines; the help adds the default, unless the text tells it
	Group   Group
}

// A Group is the subject of a setting, in the order of the help.
type Group uint8

// The subjects of settings.
const (
	GroupCommand Group = iota
	GroupWait
	GroupOnce
	GroupLost
	GroupStore
	GroupMessages
	GroupCount // the number of groups
)

// String returns the heading of the group.
func (g Group) String() string {
	return [...]string{"what to run", "how to wait", "once per tick, in the whole fleet", "what if the lock is lost",
		"where the lock lives", "messages, on stderr only"}[g]
}

// settings are all flags that have a variable. Those with an implied value are switches.
var settings = [...]Setting{
	{"key", "k", KindJob, "", "the lock's name; two runs with one NAME exclude each other", GroupCommand},
	{"key-from-command", "", KindSwitch, "", "a name that is made of COMMAND and its words", GroupCommand},
	{"permits", "", KindNumber, "", "at most N runs of NAME at a time, 2 to 64: each takes one permit", GroupCommand},
	{"take", "", KindShare, "1", "take K of the permits; all: run alone", GroupCommand},
	{"attempts", "", KindNumber, "1", "start it at most N times until it succeeds", GroupCommand},
	{"attempt-delay", "", KindDuration, "10s", "the first pause between two starts; it doubles", GroupCommand},
	{"max-runtime", "", KindDuration, "", "stop it after D, with status 124", GroupCommand},
	{"grace", "", KindDuration, "", "between SIGTERM and SIGKILL (ttl/6, at most 10s)", GroupCommand},
	{"warn-failed", "", KindSwitch, "", "warn if it ends with another status than 0", GroupCommand},
	{"history", "", KindNumber, "50", "keep the last N runs; 0: nothing of this one", GroupCommand},
	{"max-age", "", KindDuration, "", "overdue after D without a success, 1s to 45d; 0: no limit any more",
		GroupCommand},
	{"keep-output", "", KindSize, "0", "if it ends badly, keep the last 1k to 64k that it printed,\n" +
		"for all who may read the keys", GroupCommand},
	{"report-file", "", KindFile, "", "write how it ended into FILE, as JSON", GroupCommand},

	{"wait", "w", KindLimit, "0", "wait so long for a busy lock; forever: without a limit", GroupWait},
	{"nonblock", "n", KindSwitch, "", "do not wait: --wait 0", GroupWait},
	{"lock-retries", "", KindNumber, "", "try at most N times more, without a place in the line", GroupWait},
	{"lock-retry-delay", "", KindDuration, "200ms", "the pause between two tries, from D/2 to D", GroupWait},
	{"max-waiters", "", KindNumber, "", "do not wait if N wait already", GroupWait},
	{"conflict-exit-code", "E", KindNumber, "75", "the status when the lock stays busy; 0: a skip is fine", GroupWait},
	{"warn-held-after", "", KindDuration, "", "warn, and end with 75, if a lock is held for longer", GroupWait},
	{"ignore-pause", "", KindSwitch, "", "run although the job is paused", GroupWait},

	{"once-per", "", KindPeriod, "", "succeed once in each slot of length P, by the host's clock: P divides\n" +
		"an hour (UTC), or is 2h, 3h, 4h, 6h, 8h, 12h, 1d, 7d (local time)", GroupOnce},
	{"once", "", KindID, "", "the same, for what you call ID: forgotten after 16 others or 15 days", GroupOnce},
	{"tries", "", KindNumber, "2", "leave a slot alone after N runs that failed", GroupOnce},
	{"splay", "", KindDuration, "0", "start later by a part of D, the same always for this key and host", GroupOnce},
	{"min-hold", "", KindDuration, "0", "keep the lock at least D", GroupOnce},

	{"ttl", "t", KindDuration, "60s", "how long the lock outlives a dead holder", GroupLost},
	{"renew-every", "", KindDuration, "", "the period of the renewals (ttl/3, at most 20s)", GroupLost},
	{"on-lost", "", KindOnLost, "stop", "stop the command, with status 76, let it run on, or have it\n" +
		"stand still until the lock is held again", GroupLost},

	{"redis", "", KindURL, "redis://127.0.0.1:6379",
		"redis:// unix:// redis+sentinel:// redis+cluster:// (TLS: rediss...)\n" +
			"or file:PATH, which holds one; several times: a quorum of servers\n" +
			"(REDIS_URL, else redis://127.0.0.1:6379)", GroupStore},
	{"redis-timeout", "", KindDuration, "5s", "give up on a store that is silent so long", GroupStore},
	{"redis-ca", "", KindFile, "", "certificates of a private CA", GroupStore},
	{"redis-cert", "", KindFile, "", "a client certificate, with", GroupStore},
	{"redis-key", "", KindFile, "", "its key", GroupStore},
	{"redis-server-name", "", KindHost, "", "the name that its certificate must have (the host's)", GroupStore},
	{"redis-password-file", "", KindFile, "", "the password, for a URL without one", GroupStore},
	{"redis-password-command", "", KindText, "", "/bin/sh -c TEXT prints it, at each new connection", GroupStore},
	{"sentinel-password-file", "", KindFile, "", "that of the sentinels", GroupStore},
	{"replicas", "", KindNumber, "0", "the lock counts once N replicas have it", GroupStore},
	{"replicas-timeout", "", KindDuration, "1s", "for how long they are waited for", GroupStore},
	{"durable", "", KindSwitch, "", "the servers of a quorum keep their data when restarted", GroupStore},
	{"prefix", "", KindText, lock.DefaultPrefix, "before each Redis key", GroupStore},
	{"local", "", KindOptionalDirectory, "", "on this host alone, without Redis", GroupStore},

	{"quiet", "q", KindSwitch, "", "errors only", GroupMessages},
	{"verbose", "v", KindSwitch, "", "say how the run went; twice: everything", GroupMessages},
	{"log-level", "", KindLogLevel, "warn", "the least that is said", GroupMessages},
	{"log-format", "", KindLogFormat, "text", "text is for people", GroupMessages},
}

// Settings returns all flags that have a variable: all except those for the command to run, --help
// and --version.
func Settings() []Setting { return slices.Clone(settings[:]) }

// Variable returns the name of the setting in the environment and in the file.
func (s Setting) Variable() string { return variableOf(s.Name) }

func variableOf(name string) string {
	return "REDLOCKRUN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Flag returns the flag with its value, as the help shows it.
func (s Setting) Flag() string { return s.Kind.Flag(s.Name) }

// isOff reports whether a switch was explicitly set to off, which leaves the other settings of its
// kind as they are.
func isOff(name string, values []string) bool {
	if values == nil {
		return false
	}
	isSwitch := slices.ContainsFunc(settings[:],
		func(s Setting) bool { return s.Name == name && s.Kind.Implied() != "" })
	on, known := parseSwitch(values[len(values)-1])
	return isSwitch && known && !on
}

func parseSwitch(text string) (on, known bool) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, true
	case "0", "false", "no", "off":
		return false, true
	}
	return false, false
}

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
	Usage   string // a whole phrase; further lines tell more. The help adds the default, unless it is there
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
	return [...]string{"what to run", "how to wait", "once per tick, in the whole fleet", "if the lock is lost",
		"where the lock is", "messages, on stderr only"}[g]
}

// settings are all flags that have a variable. Those with an implied value are switches.
var settings = [...]Setting{
	{"key", "k", KindJob, "", "the name of the lock; runs with the same name exclude each other", GroupCommand},
	{"key-from-command", "", KindSwitch, "", "make the name from COMMAND and its arguments", GroupCommand},
	{"permits", "", KindNumber, "", "let at most N runs of NAME work at a time, 2 to 64", GroupCommand},
	{"take", "", KindShare, "1", "take K of the N permits; with all, run alone", GroupCommand},
	{"attempts", "", KindNumber, "1", "start the command up to N times until it succeeds", GroupCommand},
	{"attempt-delay", "", KindDuration, "10s",
		"wait D before the second start; the delay doubles each time", GroupCommand},
	{"max-runtime", "", KindDuration, "", "stop the command after D, with status 124", GroupCommand},
	{"grace", "", KindDuration, "", "the time between SIGTERM and SIGKILL (ttl/6, at most 10s)", GroupCommand},
	{"warn-failed", "", KindSwitch, "", "warn if the command ends with a status other than 0", GroupCommand},
	{"history", "", KindNumber, "50", "keep the last N runs in the history; 0 records nothing", GroupCommand},
	{"max-age", "", KindDuration, "",
		"the job is overdue after D without a success; 0 removes the limit\n" +
			"D is 1s to 45d", GroupCommand},
	{"keep-output", "", KindSize, "0",
		"keep the last 1k to 64k of the output of a run that ends badly\n" +
			"Everyone who can read the keys can read it", GroupCommand},
	{"report-file", "", KindFile, "", "write the result of the run to FILE, as JSON", GroupCommand},

	{"wait", "w", KindLimit, "0", "wait up to D for a busy lock; forever has no limit", GroupWait},
	{"nonblock", "n", KindSwitch, "", "do not wait for a busy lock, as with --wait 0", GroupWait},
	{"lock-retries", "", KindNumber, "",
		"ask for a busy lock up to N more times, without a place in the queue", GroupWait},
	{"lock-retry-delay", "", KindDuration, "200ms", "the delay between two --lock-retries, from D/2 to D", GroupWait},
	{"max-waiters", "", KindNumber, "", "do not wait if N runs are already waiting", GroupWait},
	{"conflict-exit-code", "E", KindNumber, "75",
		"the exit status if the lock stays busy; 0 makes it a success", GroupWait},
	{"warn-held-after", "", KindDuration, "",
		"warn and end with 75 if the lock has been held longer than D", GroupWait},
	{"ignore-pause", "", KindSwitch, "", "run even if the job is paused", GroupWait},

	{"once-per", "", KindPeriod, "",
		"succeed once per period P, in the whole fleet\n" +
			"P divides an hour (UTC), or is 2h, 3h, 4h, 6h, 8h, 12h, 1d or 7d\n" +
			"(local time)", GroupOnce},
	{"once", "", KindID, "",
		"succeed only once for ID, in the whole fleet\n" +
			"ID is forgotten after 16 others or 15 days", GroupOnce},
	{"tries", "", KindNumber, "2", "give up a slot after N failed runs", GroupOnce},
	{"splay", "", KindDuration, "0", "delay the start by a part of D, always the same for key and host", GroupOnce},
	{"min-hold", "", KindDuration, "0", "keep the lock for at least D", GroupOnce},

	{"ttl", "t", KindDuration, "60s", "how long the lock stays after its holder has died", GroupLost},
	{"renew-every", "", KindDuration, "", "how often to renew the lock (ttl/3, at most 20s)", GroupLost},
	{"on-lost", "", KindOnLost, "stop",
		"stop, continue or pause the command if the lock is lost", GroupLost},

	{"redis", "", KindURL, "redis://127.0.0.1:6379",
		"the address of Redis (REDIS_URL, else redis://127.0.0.1:6379)\n" +
			"redis:// unix:// redis+sentinel:// redis+cluster:// (TLS: rediss...)\n" +
			"or file:PATH, which holds it; several --redis make a quorum", GroupStore},
	{"redis-timeout", "", KindDuration, "5s", "give up if Redis does not answer within D", GroupStore},
	{"redis-ca", "", KindFile, "", "the file with the certificates of a private CA", GroupStore},
	{"redis-cert", "", KindFile, "", "the file with the client certificate", GroupStore},
	{"redis-key", "", KindFile, "", "the file with the key of the client certificate", GroupStore},
	{"redis-server-name", "", KindHost, "", "the name in the server's certificate (the host's)", GroupStore},
	{"redis-password-file", "", KindFile, "", "the file with the password, for a URL without one", GroupStore},
	{"redis-password-command", "", KindText, "",
		"get the password from /bin/sh -c TEXT at each connection", GroupStore},
	{"sentinel-password-file", "", KindFile, "", "the file with the password of the sentinels", GroupStore},
	{"replicas", "", KindNumber, "0", "the lock counts only after N replicas have it", GroupStore},
	{"replicas-timeout", "", KindDuration, "1s", "how long to wait for the replicas", GroupStore},
	{"durable", "", KindSwitch, "", "the servers of the quorum keep their data in a restart", GroupStore},
	{"prefix", "", KindText, lock.DefaultPrefix, "the text before each key in Redis", GroupStore},
	{"local", "", KindOptionalDirectory, "", "lock a file on this host, without Redis", GroupStore},

	{"quiet", "q", KindSwitch, "", "show only errors", GroupMessages},
	{"verbose", "v", KindSwitch, "", "show how the run went; -vv shows everything", GroupMessages},
	{"log-level", "", KindLogLevel, "warn", "the lowest level of messages to show", GroupMessages},
	{"log-format", "", KindLogFormat, "text",
		"the form of messages: text for people, json for programs", GroupMessages},
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

package config

import (
	"slices"
	"strings"

	"redlockrun/internal/lock"
)

// A Setting is one thing that a flag, a variable or the configuration file says.
type Setting struct {
	Name    string // the flag's
	Short   string // the flag's letter; "" for none
	Alone   string // what the flag says if it stands without a value; "" if it needs one
	Default string // what counts if nobody says anything; "" is nothing
	Usage   string // for shell completion; the help is a text of its own
}

// settings are all flags that have a variable. Those that may stand alone are switches.
var settings = [...]Setting{
	{"key", "k", "", "", "the lock's name"},
	{"key-from-command", "", "true", "", "make the lock's name of the command"},
	{"ttl", "t", "", "60s", "how long the lock outlives a dead holder"},
	{"wait", "w", "", "0", "how long to wait for a busy lock"},
	{"nonblock", "n", "true", "", "do not wait"},
	{"lock-retries", "", "", "", "further tries for the lock, without a place in the line"},
	{"lock-retry-delay", "", "", "200ms", "the pause between two tries"},
	{"max-waiters", "", "", "", "how many may wait in line"},
	{"renew-every", "", "", "", "the watchdog's period"},
	{"grace", "", "", "", "between SIGTERM and SIGKILL"},
	{"on-lost", "", "", "stop", "stop or continue"},
	{"max-runtime", "", "", "", "stop the command after so long"},
	{"min-hold", "", "", "0", "keep the lock at least so long"},
	{"once-per", "", "", "", "succeed once in each slot of this length, in the whole fleet"},
	{"once", "", "", "", "succeed once in the slot of this name"},
	{"tries", "", "", "2", "how many runs of a slot may fail"},
	{"splay", "", "", "0", "put the start off by a part of this, always the same"},
	{"attempts", "", "", "1", "how often the command is started until it succeeds"},
	{"attempt-delay", "", "", "10s", "the first pause between two starts"},
	{"ignore-pause", "", "true", "", "run although the job is paused"},
	{"history", "", "", "50", "how many runs are remembered"},
	{"report-file", "", "", "", "a file that says how the run ended"},
	{"conflict-exit-code", "E", "", "75", "the status when the lock stays busy"},
	{"warn-held-after", "", "", "", "warn of a lock that stays busy for so long"},
	{"redis", "", "", "redis://127.0.0.1:6379", "where the lock lives"},
	{"redis-timeout", "", "", "5s", "how long a silent store is asked"},
	{"redis-ca", "", "", "", "a file of private CA certificates"},
	{"redis-cert", "", "", "", "a client certificate"},
	{"redis-key", "", "", "", "the client certificate's key"},
	{"redis-server-name", "", "", "", "the name that the server's certificate must have"},
	{"redis-password-file", "", "", "", "a file that holds the password"},
	{"sentinel-password-file", "", "", "", "a file that holds the sentinels' password"},
	{"replicas", "", "", "0", "how many replicas must have the lock"},
	{"replicas-timeout", "", "", "1s", "how long they are waited for"},
	{"durable", "", "true", "", "the servers of a quorum keep their data"},
	{"local", "", "true", "", "a lock on this host alone"},
	{"prefix", "", "", lock.DefaultPrefix, "before each Redis key"},
	{"quiet", "q", "true", "", "errors only"},
	{"verbose", "v", "true", "", "say more; twice: everything"},
	{"log-level", "", "", "warn", "debug, info, warn or error"},
	{"log-format", "", "", "text", "text or json"},
}

// Settings are all flags that have a variable: all but those that say what is to be run,
// and --help and --version.
func Settings() []Setting { return slices.Clone(settings[:]) }

// Variable is the name of the setting in the environment and in the file.
func (s Setting) Variable() string { return variableOf(s.Name) }

func variableOf(name string) string {
	return "REDLOCKRUN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// isOff reports that a switch was explicitly not thrown, which leaves the
// other settings of its kind as they are.
func isOff(name string, values []string) bool {
	isSwitch := slices.ContainsFunc(settings[:], func(s Setting) bool { return s.Name == name && s.Alone != "" })
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

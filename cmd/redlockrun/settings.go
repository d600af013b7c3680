package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// A setting is one thing that a flag, a variable or the configuration file says.
type setting struct {
	name  string // the flag's
	short string
	alone string // what the flag says if it stands without a value; "" if it needs one
	usage string // for shell completion; the help is a text of its own
}

// settings are all flags but -c, --help and --version, which have no variable.
func settings() []setting {
	return []setting{
		{"key", "k", "", "the lock's name"},
		{"ttl", "t", "", "how long the lock outlives a dead holder"},
		{"wait", "w", "", "how long to wait for a busy lock"},
		{"nonblock", "n", "true", "do not wait"},
		{"lock-retries", "", "", "further tries for the lock, without a place in the line"},
		{"lock-retry-delay", "", "", "the pause between two tries"},
		{"max-waiters", "", "", "how many may wait in line"},
		{"renew-every", "", "", "the watchdog's period"},
		{"grace", "", "", "between SIGTERM and SIGKILL"},
		{"on-lost", "", "", "stop or continue"},
		{"max-runtime", "", "", "stop the command after so long"},
		{"min-hold", "", "", "keep the lock at least so long"},
		{"conflict-exit-code", "E", "", "the status when the lock stays busy"},
		{"warn-held-after", "", "", "warn of a lock that stays busy for so long"},
		{"redis", "", "", "where the lock lives"},
		{"redis-timeout", "", "", "how long a silent store is asked"},
		{"redis-ca", "", "", "a file of private CA certificates"},
		{"redis-cert", "", "", "a client certificate"},
		{"redis-key", "", "", "the client certificate's key"},
		{"redis-password-file", "", "", "a file that holds the password"},
		{"sentinel-password-file", "", "", "a file that holds the sentinels' password"},
		{"replicas", "", "", "how many replicas must have the lock"},
		{"replicas-timeout", "", "", "how long they are waited for"},
		{"durable", "", "true", "the servers of a quorum keep their data"},
		{"local", "", "true", "a lock on this host alone"},
		{"prefix", "", "", "before each Redis key"},
		{"quiet", "q", "true", "errors only"},
		{"verbose", "v", "true", "say more; twice: everything"},
		{"log-level", "", "", "debug, info, warn or error"},
		{"log-format", "", "", "text or json"},
	}
}

// variable is the name of the setting in the environment and in the file.
func (s setting) variable() string { return variableOf(s.name) }

func variableOf(name string) string {
	return "REDLOCKRUN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// words collects what a flag was given, unparsed: a value is judged only once
// it is known to be the nearest, and a wrong one is named with its source.
type words []string

func (w *words) Set(word string) error { *w = append(*w, word); return nil }
func (w *words) String() string        { return "" }
func (w *words) Type() string          { return "value" }

// define gives flags the settings and returns where their words arrive.
func define(flags *pflag.FlagSet) map[string]*words {
	said := make(map[string]*words)
	for _, s := range settings() {
		said[s.name] = new(words)
		flags.VarPF(said[s.name], s.name, s.short, s.usage).NoOptDefVal = s.alone
	}
	return said
}

package lock

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// A Refusal is the answer of a server that does not do what it was asked for.
type Refusal struct {
	// Code is the word by which Redis calls the reason: "READONLY", "OOM". It is
	// NOCOMMAND if the server does not know a command, and empty for reasons
	// that trying again may or may not change.
	Code string

	// Command is the one of ours that the user may not use, or that the server does
	// not know: "PUBLISH". Empty: it does not matter, or the server does not say.
	Command string

	text string // without what servers add to errors in scripts
	raw  string // as it was answered
	refusalKind
}

// NOCOMMAND is the Code for a command that the server does not know or have.
const NOCOMMAND = "NOCOMMAND"

func (r *Refusal) Error() string {
	switch {
	case r.Command == "":
	case r.Code == NOCOMMAND:
		return "the server does not know the command " + r.Command
	case !strings.Contains(strings.ToUpper(r.text), r.Command):
		return r.text + ": " + r.Command
	}
	return r.text
}

// RedisError makes a Refusal what a redis.Error is.
func (r *Refusal) RedisError() {}

// A refusalKind is what follows from a refusal.
type refusalKind struct {
	class class
	leave bool // another connection or server could answer better
}

// refusals are the texts that tell refusals apart, by how they begin or, with
// within, by what is in them. Redis has no other mark for them, and its versions
// and successors differ: this is the one place that looks at texts.
var refusals = []struct {
	begins, within string
	code           string
	refusalKind
}{
	{begins: "READONLY ", code: "READONLY", refusalKind: refusalKind{leave: true}},
	{begins: "LOADING ", code: "LOADING", refusalKind: refusalKind{leave: true}},
	{begins: "MASTERDOWN ", code: "MASTERDOWN", refusalKind: refusalKind{leave: true}},
	{begins: "CLUSTERDOWN ", code: "CLUSTERDOWN", refusalKind: refusalKind{leave: true}},
	{begins: "OOM ", code: "OOM"},
	{begins: "MISCONF ", code: "MISCONF"},
	{begins: "NOREPLICAS ", code: "NOREPLICAS"},
	{begins: "BUSY ", code: "BUSY"},
	{begins: "TRYAGAIN ", code: "TRYAGAIN"},
	{begins: "max number of clients", code: "MAXCLIENTS"},
	{begins: "ASK ", code: "ASK", refusalKind: refusalKind{leave: true}},
	{begins: "MOVED ", code: "MOVED", refusalKind: refusalKind{unfit, true}},
	{begins: "CROSSSLOT", code: "CROSSSLOT", refusalKind: refusalKind{class: unfit}},
	{begins: "Script attempted to access a non local key", code: "CROSSSLOT", refusalKind: refusalKind{class: unfit}},
	{begins: "DB index is out of range", code: "NODB", refusalKind: refusalKind{class: unfit}},

	{begins: "NOAUTH", code: "NOAUTH", refusalKind: refusalKind{denied, true}},
	// Redis refuses large requests before it asks for the password.
	{begins: "Protocol error: unauthenticated", code: "NOAUTH", refusalKind: refusalKind{denied, true}},
	{begins: "WRONGPASS", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "invalid password", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "Client sent AUTH", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "AUTH ", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "NOPERM", code: "NOPERM", refusalKind: refusalKind{class: denied}},
	{begins: "ACL failure in script", code: "NOPERM", refusalKind: refusalKind{class: denied}},
	{begins: "The user executing the script can't", code: "NOPERM", refusalKind: refusalKind{class: denied}},
	{begins: "DENIED", code: "DENIED", refusalKind: refusalKind{class: denied}},

	{begins: "unknown command", code: NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{begins: "unknown ", within: " called from ", code: NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "unsupported command", code: NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "not supported in cluster mode", code: NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "not allowed in cluster mode", code: NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "command is not allowed", code: NOCOMMAND, refusalKind: refusalKind{class: unfit}},
}

// Servers put around an error in a script where it happened, each in its way:
// in front of it up to Redis 6.2, behind it since, sometimes without the script.
var (
	inFront = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:ERR |-|Error running script \(call to \w*\): |@?user_script: ?(\d+): )+`)
	})
	behind = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`,?\s*(?:script: ?\w*,? ?)?on @?user_script: ?(\d+)\.?\s*$`)
	})
)

// refusalIn finds the answer of a server in err.
func refusalIn(err error) (r *Refusal, ok bool) {
	ok = errors.As(err, &r)
	return r, ok
}

// understood is err, or the refusal that it is: of a script, or with "" of another request.
func understood(err error, script string) error {
	var reply redis.Error
	if _, known := refusalIn(err); known || !errors.As(err, &reply) {
		return err
	}
	return readRefusal(reply.Error(), script)
}

// readRefusal reads what was answered to a script, or with "" to another request.
func readRefusal(raw, script string) *Refusal {
	r := &Refusal{raw: raw, text: raw}
	line := ""
	if m := behind().FindStringSubmatchIndex(r.text); m != nil {
		r.text, line = r.text[:m[0]], r.text[m[2]:m[3]]
	}
	if m := inFront().FindStringSubmatch(r.text); m != nil {
		r.text = r.text[len(m[0]):]
		line += m[1]
	}
	// A server that does not know AUTH or HELLO repeats their arguments.
	r.text, _, _ = strings.Cut(r.text, "with args beginning with")
	r.text = strings.TrimRight(r.text, ", \r\n")
	r.judge()
	if r.Code == NOCOMMAND || r.Code == "NOPERM" {
		r.Command = commandIn(r.text, line, script)
	}
	return r
}

// judge looks the text up; upper and lower case are the same to it.
func (r *Refusal) judge() {
	text := strings.ToLower(r.text)
	for _, known := range refusals {
		if strings.HasPrefix(text, strings.ToLower(known.begins)) && strings.Contains(text, known.within) {
			r.Code, r.refusalKind = known.code, known.refusalKind
			return
		}
	}
}

// commands are all that we use.
var commands = sync.OnceValue(func() []string {
	rights := strings.Join([]string{MinimalACL, WaitingACL, ReplicasACL, QuorumACL, ClusterACL}, " ")
	list := []string{"SELECT", "AUTH", "HELLO", "TYPE", "SENTINEL"}
	for _, right := range strings.Fields(rights) {
		if name, ok := strings.CutPrefix(right, "+"); ok {
			list = append(list, strings.ToUpper(name))
		}
	}
	return list
})

var (
	quoted   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("['`\"](\\w+)") })
	unquoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+)(?: command)? is not `) })
)

// commandIn is the command that a refusal is about: what it names, or what
// stands in the line of the script that it names. Without a line it is what our
// scripts look at first, as its error is all that they return without one.
func commandIn(text, line, script string) string {
	for _, pattern := range []*regexp.Regexp{quoted(), unquoted()} {
		if name := commandAmong(pattern.FindAllStringSubmatch(text, -1)); name != "" {
			return name
		}
	}
	if script == "" || !strings.Contains(text, "script") {
		return ""
	}
	code := script
	if n, err := strconv.Atoi(line); err == nil {
		lines := strings.Split(script, "\n")
		if n < 1 || n > len(lines) {
			return ""
		}
		code = lines[n-1]
	} else if _, tried, ok := strings.Cut(script, "try("); ok {
		code = tried
	} else if _, tried, ok := strings.Cut(script, "redis.pcall("); ok {
		code = tried
	}
	return commandAmong(quoted().FindAllStringSubmatch(code, -1))
}

// commandAmong is the first of some words that is a command of ours.
func commandAmong(words [][]string) string {
	for _, word := range words {
		if name := strings.ToUpper(word[1]); slices.Contains(commands(), name) {
			return name
		}
	}
	return ""
}

package link

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"redlockrun/internal/lock"

	"github.com/redis/go-redis/v9"
)

// A rejection is a Refusal as it was answered, and what follows from it.
type rejection struct {
	*lock.Refusal
	raw string
	refusalKind
}

// RedisError makes a refusal what a redis.Error is.
func (r *rejection) RedisError() {}

func (r *rejection) Unwrap() error { return r.Refusal }

// A refusalKind describes the consequence of a refusal.
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
	means string // in other words, where those of Redis tell users nothing
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
	{begins: "max number of clients", code: "MAXCLIENTS", refusalKind: refusalKind{leave: true}}, // it hangs up, too
	{begins: "ASK ", code: "ASK", refusalKind: refusalKind{leave: true}},
	{begins: "MOVED ", code: "MOVED", refusalKind: refusalKind{unfit, true}},
	{begins: "CROSSSLOT", code: "CROSSSLOT", refusalKind: refusalKind{class: unfit}},
	{begins: "Script attempted to access a non local key", code: "CROSSSLOT", refusalKind: refusalKind{class: unfit}},
	{begins: "DB index is out of range", code: "NODB", refusalKind: refusalKind{class: unfit}},

	{begins: "NOAUTH", code: "NOAUTH", refusalKind: refusalKind{denied, true}},
	// Redis refuses large requests before it asks for the password.
	{begins: "Protocol error: unauthenticated", code: "NOAUTH", refusalKind: refusalKind{denied, true},
		means: "NOAUTH Authentication required."},
	{begins: "WRONGPASS", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "invalid password", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "Client sent AUTH", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "AUTH ", code: "WRONGPASS", refusalKind: refusalKind{denied, true}},
	{begins: "NOPERM", code: "NOPERM", refusalKind: refusalKind{class: denied}},
	{begins: "ACL failure in script", code: "NOPERM", refusalKind: refusalKind{class: denied}},
	{begins: "The user executing the script can't", code: "NOPERM", refusalKind: refusalKind{class: denied}},
	{begins: "DENIED", code: "DENIED", refusalKind: refusalKind{class: denied}},

	{begins: "unknown command", code: lock.NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{begins: "unknown ", within: " called from ", code: lock.NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "unsupported command", code: lock.NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "not supported in cluster mode", code: lock.NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "not allowed in cluster mode", code: lock.NOCOMMAND, refusalKind: refusalKind{class: unfit}},
	{within: "command is not allowed", code: lock.NOCOMMAND, refusalKind: refusalKind{class: unfit}},
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
func refusalIn(err error) (r *rejection, ok bool) {
	ok = errors.As(err, &r)
	return r, ok
}

// understood is err, or the refusal that it is, as read reads it.
func understood(err error, read func(raw string) *rejection) error {
	var reply redis.Error
	if _, known := refusalIn(err); known || !errors.As(err, &reply) {
		return err
	}
	return read(reply.Error())
}

// ReadRefusal reads what was answered to a request that is no script.
func ReadRefusal(raw string) *rejection { return readRefusal(raw, "", "") }

// readRefusal reads what was answered to a script, whose refusal of bare names no line; both are ""
// of another request.
func readRefusal(raw, script, bare string) *rejection {
	r := &rejection{Refusal: &lock.Refusal{Text: raw}, raw: raw}
	line := ""
	if m := behind().FindStringSubmatchIndex(r.Text); m != nil {
		r.Text, line = r.Text[:m[0]], r.Text[m[2]:m[3]]
	}
	if m := inFront().FindStringSubmatch(r.Text); m != nil {
		r.Text = r.Text[len(m[0]):]
		line += m[1]
	}
	// A server that does not know AUTH or HELLO repeats their arguments.
	r.Text, _, _ = strings.Cut(r.Text, "with args beginning with")
	r.Text = strings.TrimRight(r.Text, ", \r\n")
	r.judge()
	if r.Code == lock.NOCOMMAND || r.Code == "NOPERM" {
		r.Command = commandIn(r.Text, line, script, bare)
	}
	return r
}

// judge looks the text up; upper and lower case are the same to it.
func (r *rejection) judge() {
	text := strings.ToLower(r.Text)
	for _, known := range refusals {
		if strings.HasPrefix(text, strings.ToLower(known.begins)) && strings.Contains(text, known.within) {
			r.Code, r.refusalKind = known.code, known.refusalKind
			if known.means != "" {
				r.Text = known.means
			}
			return
		}
	}
}

// commands are all that we use.
var commands = sync.OnceValue(func() []string {
	rights := strings.Join([]string{
		lock.MinimalACL, lock.WaitingACL, lock.SlotsACL, lock.OperatorACL, lock.ReplicasACL, lock.QuorumACL,
		lock.ClusterACL,
		lock.ReaderACL, lock.ScanACL,
	}, " ")
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
// stands in the line of the script that it names. Without a line it is bare:
// of that alone the script returns the error as it is.
func commandIn(text, line, script, bare string) string {
	for _, pattern := range []*regexp.Regexp{quoted(), unquoted()} {
		if name := commandAmong(pattern.FindAllStringSubmatch(text, -1)); name != "" {
			return name
		}
	}
	if script == "" || !strings.Contains(text, "script") {
		return ""
	}
	n, err := strconv.Atoi(line)
	if err != nil {
		return bare
	}
	lines := strings.Split(script, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return commandAmong(quoted().FindAllStringSubmatch(lines[n-1], -1))
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

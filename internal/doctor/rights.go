package doctor

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// A use is the purpose of some rights, and what is lost without them.
type use struct {
	rights  string // as ACL SETUSER takes them
	without Result
	lost    string
}

// uses are in the order of their weight.
func uses() []use {
	return []use{
		{lock.MinimalACL, Fail, "no job runs (69)"},
		{lock.WaitingACL, Warn, "--wait does not work, or waiters ask twice a second instead of being notified"},
		{lock.SlotsACL, Warn, "--once-per and --once do not work (69)"},
		{lock.LedgerACL, Warn, "runs leave no history"},
		{lock.OutputACL, Warn, "--keep-output keeps nothing"},
		{lock.ReaderACL, Ok, "status and history show this user only a part; no run needs it"},
		{lock.OperatorACL, Ok, "this user cannot change jobs; no run needs it"},
	}
}

// trialLua tries each command on a key of its own, in a way that writes nothing or is undone in
// the same step, and returns what came of each: its name, and the error or "".
//
//go:embed trial.lua
var trialLua string

// checkRights checks the rights of the user and the commands of the server. It tries each command
// where runs use it, in a script.
func checkRights(ctx context.Context, v *visit) []Finding {
	if v.idle {
		return nil
	}
	key := wire.KeysOf(v.Servers.Prefix, trialName(), "").Lock
	reply, err := v.ask(ctx, "EVAL", trialLua, "0", key, v.Servers.Prefix+"jobs")
	switch {
	case barred(err) && refusedBy(err).Code == lock.NOCOMMAND:
		return []Finding{v.is("rights", Fail, "the server does not know EVAL: no job runs (69)").
			to("use Redis itself, or a proxy that passes scripts on")}
	case barred(err):
		return []Finding{v.is("rights", Fail, "user %s may not use EVAL: no job runs (69)", v.user()).
			to("%s", v.grant("+eval"))}
	case err != nil:
		return []Finding{v.is("rights", Fail, "%s", v.Say(err)).to("check the server with redis-cli")}
	}
	return v.weigh(refusalsOf(reply))
}

// trialName names a lock that no job asks for.
func trialName() string { return "doctor:" + lock.NewRunID() }

// A lack is the rights that a user has not, and the commands that a server has not.
type lack struct{ rights, commands []string }

// refusalsOf returns the refused trials of a reply.
func refusalsOf(reply any) (l lack) {
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		name, text := fmt.Sprint(list[i]), fmt.Sprint(list[i+1])
		if text == "" {
			continue
		}
		said := link.ReadError(text)
		switch lower := strings.ToLower(said.Text); {
		case said.Code == lock.NOCOMMAND:
			l.commands = append(l.commands, name)
		case said.Code != "NOPERM": // it was let in
		case strings.Contains(lower, "channel"): // it may not be published to
			l.rights = append(l.rights, "&")
		case strings.Contains(lower, "access") && strings.Contains(lower, "key"):
			l.rights = append(l.rights, "~")
		default:
			l.rights = append(l.rights, "+"+name)
		}
	}
	return l
}

// lacks reports whether a user may not use a right, and whether the server does not know it.
func (l lack) lacks(right string) (denied, unknown bool) {
	kind := right[:1]
	denied = slices.Contains(l.rights, right) || strings.ContainsAny(kind, "~&") && slices.Contains(l.rights, kind)
	return denied, slices.Contains(l.commands, strings.TrimPrefix(right, "+"))
}

// A loss is what some rights and commands are for: the same for each of them.
type loss struct {
	lack
	without Result
	lost    string
}

// losses returns what the lacks cost, the worst first.
func (v *visit) losses(l lack) (all []*loss) {
	told := map[string]bool{}
	for n, u := range uses() {
		for _, right := range strings.Fields(u.rights) {
			denied, unknown := l.lacks(right)
			if told[right] || !denied && !unknown {
				continue
			}
			told[right] = true
			lost := lostWith(right, uses()[n:])
			i := slices.IndexFunc(all, func(known *loss) bool {
				return known.without == u.without && known.lost == lost
			})
			if i < 0 {
				i, all = len(all), append(all, &loss{without: u.without, lost: lost})
			}
			if unknown {
				all[i].commands = append(all[i].commands, strings.ToUpper(strings.TrimPrefix(right, "+")))
			} else {
				all[i].rights = append(all[i].rights, v.ours(right))
			}
		}
	}
	return all
}

// lostWith says what is lost with a right, by the first use and those of the same weight that need
// it too. If no job runs, it says nothing else.
func lostWith(right string, users []use) string {
	lost := users[0].lost
	for _, other := range users[1:] {
		if users[0].without == Warn && other.without == Warn && slices.Contains(strings.Fields(other.rights), right) {
			lost += "; " + other.lost
		}
	}
	return lost
}

// weigh says what each lack costs.
func (v *visit) weigh(l lack) (found []Finding) {
	worst := Ok
	for _, each := range v.losses(l) {
		if len(each.rights) > 0 {
			found = append(found, v.is("rights", each.without, "user %s lacks %s: %s", v.user(),
				strings.Join(each.rights, " "), each.lost).
				to("%s", v.grant(each.rights...)))
		}
		if len(each.commands) > 0 {
			found = append(found, v.is("rights", each.without, "the server does not know %s: %s",
				strings.Join(each.commands, ", "), each.lost).
				to("if it is a proxy, connect to the server directly; check redis.conf for rename-command"))
		}
		if each.without != Ok {
			worst = each.without
		}
	}
	if worst == Ok {
		found = append([]Finding{v.is("rights", Ok, "user %s has all rights that runs need", v.user())}, found...)
	}
	return found
}

// ours is a right with the prefix that is in use.
func (v *visit) ours(right string) string {
	return strings.Replace(right, lock.DefaultPrefix, v.Servers.Prefix, 1)
}

// grant is the command by which an administrator gives rights.
func (v *visit) grant(rights ...string) string {
	return "ACL SETUSER " + v.user() + " " + strings.Join(rights, " ")
}

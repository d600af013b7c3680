package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"redlockrun/internal/lock"
)

// sentinelTold is what a sentinel reports about the master.
type sentinelTold struct {
	master string   // host:port; "" if it knows none of that name
	flags  []string // s_down: this sentinel alone takes it for down; o_down: a quorum does
	quorum int      // how many must take it for down; 0 if it may not tell
	all    int      // how many sentinels there are, itself included, as far as it knows
	tooFew string   // what it says if it sees too few of them for a failover
}

// askSentinel asks one for what surveyMaster compares.
func askSentinel(ctx context.Context, v *visit) []Finding {
	told := &v.told.sentinel
	if named, err := v.ask(ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", v.Master); err == nil {
		told.master = masterIn(named)
	}
	fields, err := v.ask(ctx, "SENTINEL", "MASTER", v.Master)
	if err != nil && barred(err) {
		return []Finding{v.is("sentinel", Unseen, "cannot check its quorum and its view of the master: %s",
			v.Say(err)).
			to("grant +sentinel|master to check them")}
	}
	told.read(fields)
	if _, err := v.ask(ctx, "SENTINEL", "CKQUORUM", v.Master); strings.HasPrefix(refusedBy(err).Text, "NOQUORUM") {
		told.tooFew = v.Say(err)
	}
	return nil
}

// masterIn is the host:port that a sentinel names; "" if it names none.
func masterIn(reply any) string {
	list, _ := reply.([]any)
	if len(list) != 2 {
		return ""
	}
	return lock.Escaped(net.JoinHostPort(fmt.Sprint(list[0]), fmt.Sprint(list[1])))
}

// read takes from names and values what is known to us.
func (t *sentinelTold) read(reply any) {
	list, _ := reply.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		value, _ := list[i+1].(string)
		number, err := strconv.ParseUint(value, 10, 16)
		switch list[i] {
		case "flags":
			t.flags = strings.Split(value, ",")
		case "quorum":
			t.quorum = int(number)
		case "num-other-sentinels":
			if err == nil {
				t.all = int(number) + 1
			}
		}
	}
}

// surveyMaster checks whether the sentinels name the same master, and could replace it.
func surveyMaster(_ context.Context, e *Examination, visits []*visit) []Finding {
	sentinels, named := of(visits, Sentinel), e.countOf(Sentinel)
	if len(sentinels) == 0 {
		return nil // each has its own finding, or there is none
	}
	best, found := agreement(sentinels, named)
	sentinels = slices.DeleteFunc(sentinels,
		func(v *visit) bool { return v.told.sentinel.master != best || best == "" })
	var said gossip
	for _, v := range sentinels {
		for _, f := range v.told.sentinel.findings(named) {
			said.add(v.Address(), f)
		}
	}
	return slices.Concat(found, tooFew(sentinels, named), said.findings(len(sentinels)))
}

// agreement compares the masters that they name, and returns the one with the most votes.
func agreement(sentinels []*visit, named int) (best string, found []Finding) {
	var masters, each []string
	votes := make(map[string]int)
	for _, v := range sentinels {
		m := v.told.sentinel.master
		if votes[m]++; votes[m] == 1 {
			masters = append(masters, m)
		}
		each = append(each, v.Address()+" names "+cmp.Or(m, "none"))
	}
	const remedy = "compare redis-cli -p 26379 sentinel master NAME on each; " +
		"on the wrong ones, run sentinel remove NAME and sentinel monitor NAME ..."
	best = slices.MaxFunc(masters, func(a, b string) int { return votes[a] - votes[b] })
	switch {
	case len(masters) == 1 && best == "": // each sentinel's own check reports it
	case len(masters) == 1:
		found = append(found, about("sentinel", Ok, "%s and %s the same master, %s", answering(len(sentinels), named),
			plural(len(sentinels), "names", "name"), best))
	case best != "" && votes[best] > named/2:
		found = append(found, about("sentinel", Warn, "the sentinels disagree, and most name %s: %s", best,
			strings.Join(each, ", ")).to(remedy))
	default:
		found = append(found, about("sentinel", Fail, "the sentinels disagree, and no majority names a master: %s",
			strings.Join(each, ", ")).to(remedy))
	}
	return best, found
}

// answering says "2 of 3 sentinels answer".
func answering(n, named int) string {
	if n == named {
		return fmt.Sprintf("%d %s", n, plural(n, "sentinel answers", "sentinels answer"))
	}
	return fmt.Sprintf("%d of %d sentinels %s", n, named, plural(n, "answers", "answer"))
}

func plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// tooFew checks whether those that name the master can replace it, if the URL names all sentinels.
func tooFew(sentinels []*visit, named int) []Finding {
	all, need := 0, 0
	for _, v := range sentinels {
		all = max(all, v.told.sentinel.all)
		need = max(need, v.told.sentinel.quorum, all/2+1)
	}
	here := len(sentinels)
	text := fmt.Sprintf("%d of %d sentinels can vote for another master, and %d are needed: ", here, named, need)
	switch {
	case all == 0 || here == named || all > named:
		return nil
	case here < need:
		return []Finding{about("sentinel", Fail, "%sno sentinel replaces the master if it fails", text).
			to("repair the others")}
	case here == need:
		return []Finding{about("sentinel", Warn, "%sno other may fail", text).to("repair the others")}
	}
	return nil
}

// findings returns the findings about one sentinel's report; the URL names so many sentinels.
func (t sentinelTold) findings(named int) (found []Finding) {
	warn := func(r Result, remedy, format string, args ...any) {
		found = append(found, about("sentinel", r, format, args...).to("%s", remedy))
	}
	switch {
	case slices.Contains(t.flags, "o_down"):
		warn(Fail, "check that server, and the network between it and the sentinels",
			"the master %s is down", t.master)
	case slices.Contains(t.flags, "s_down"):
		warn(Warn, "check the network between that sentinel and the master", "the master %s may be down", t.master)
	}
	switch {
	case t.all == 0: // it may not tell
	case t.tooFew != "":
		warn(Fail, "restart the others, or run sentinel reset NAME if they are gone for good",
			"it sees too few others to replace the master: %s", t.tooFew)
	case t.quorum > t.all:
		warn(Fail, "sentinel set NAME quorum N", "its quorum is %d of %d sentinels: the master is never replaced",
			t.quorum, t.all)
	case t.all < 3:
		warn(Warn, "run three, on hosts that fail independently",
			"there %s %d: if one fails, no sentinel replaces the master", plural(t.all, "is", "are"), t.all)
	case named == 1:
		warn(Warn, "name all of them: redis+sentinel://HOST,HOST,HOST/NAME",
			"the URL names one of %d: if that one fails, runs cannot find the master", t.all)
	}
	return found
}

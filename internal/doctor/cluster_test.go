package doctor

import (
	"testing"

	"redlockrun/internal/lock/link"
)

func TestWhatANodeTellsOfOthersIsJudged(t *testing.T) {
	master := func(addr string, flags ...string) link.Node {
		return link.Node{ID: "id-" + addr, Addr: addr, Flags: flags, Slots: []link.SlotRange{{First: 0, Last: 16383}}}
	}
	for _, c := range []struct {
		nodes []link.Node
		want  string
	}{
		{[]link.Node{master("a", "master")}, ""},
		{[]link.Node{master("a", "master", "fail")},
			"fail: master a has failed, and no replica has taken over its slots 0-16383"},
		{[]link.Node{master("a", "master", "fail?")},
			"warn: node a does not answer the other nodes, and may have failed"},
		{[]link.Node{{ID: "x", Flags: []string{"slave", "fail", "noaddr"}}}, "warn: node x has failed"},
	} {
		v := &visit{told: told{nodes: c.nodes}}
		if got := sayings(v.failures()); got != c.want {
			t.Errorf("%+v: %q, want %q", c.nodes, got, c.want)
		}
	}
}

func TestSlotsAreNamedInShort(t *testing.T) {
	r := func(first, last int) link.SlotRange { return link.SlotRange{First: first, Last: last} }
	for want, ranges := range map[string][]link.SlotRange{
		"slot 5":                                {r(5, 5)},
		"slots 0-16383":                         {r(0, 16383)},
		"slots 1, 3, 5-6, 8, and 2 more ranges": {r(1, 1), r(3, 3), r(5, 6), r(8, 8), r(10, 10), r(12, 12)},
	} {
		if got := slotsText(ranges); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

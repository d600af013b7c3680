package doctor

import (
	"strings"
	"testing"
	"unicode"
)

// Whatever answers in a sentinel's place: no number is negative, and nothing steers a terminal.
func FuzzWhatASentinelTellsOfTheMaster(f *testing.F) {
	f.Add("flags", "master,o_down", "quorum", "2", "num-other-sentinels", "2")
	f.Add("quorum", "-1", "num-other-sentinels", "99999999999999999999", "flags", "\x1b[2J")
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g string) {
		for _, reply := range []any{
			[]any{a, b, c, d, e, g}, []any{a, nil, int64(1), d, e}, a, nil, []any{a}, []any{a, b},
		} {
			var told sentinelTold
			told.read(reply)
			told.master = masterIn(reply)
			if told.quorum < 0 || told.all < 0 {
				t.Fatalf("%v: %+v", reply, told)
			}
			for _, f := range told.findings(3) {
				if strings.ContainsFunc(f.Message, unicode.IsControl) {
					t.Fatalf("%q", f.Message)
				}
			}
		}
	})
}

func TestWhatASentinelTellsIsJudged(t *testing.T) {
	for _, c := range []struct {
		told  string // words of SENTINEL MASTER
		named int    // sentinels in the URL
		want  string
	}{
		{"flags master quorum 2 num-other-sentinels 2", 3, ""},
		{"flags master quorum 2 num-other-sentinels 2", 2, ""},
		{"", 3, ""},
		{"flags master,s_down quorum 2 num-other-sentinels 2", 3, "warn: the master M may be down"},
		{"flags s_down,o_down,master quorum 2 num-other-sentinels 2", 3, "fail: the master M is down"},
		{"flags master quorum 4 num-other-sentinels 2", 3,
			"fail: its quorum is 4 of 3 sentinels: the master is never replaced"},
		{"flags master quorum 1 num-other-sentinels 0", 1,
			"warn: there is 1: if one fails, no sentinel replaces the master"},
		{"flags master quorum 2 num-other-sentinels 1", 2,
			"warn: there are 2: if one fails, no sentinel replaces the master"},
		{"flags master quorum 2 num-other-sentinels 2", 1,
			"warn: the URL names one of 3: if that one fails, runs cannot find the master"},
	} {
		var told sentinelTold
		var reply []any
		for _, word := range strings.Fields(c.told) {
			reply = append(reply, word)
		}
		told.read(reply)
		told.master = "M"
		if got := sayings(told.findings(c.named)); got != c.want {
			t.Errorf("%q, %d named: %q, want %q", c.told, c.named, got, c.want)
		}
	}
}

// sayings are findings in short.
func sayings(found []Finding) string {
	var all []string
	for _, f := range found {
		all = append(all, string(f.Result)+": "+f.Message)
	}
	return strings.Join(all, "; ")
}

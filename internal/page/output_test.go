package page

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ledgers"
)

func TestABadRunOpensToWhatItPrinted(t *testing.T) {
	t.Parallel()
	hostile := "</pre><script>alert(1)</script>\n\x1b[2J\x00\xff & <b>"
	j := lock.Job{Name: "job", State: lock.StateIdle, Now: ledgers.Now,
		Runs: []lock.Entry{ledgers.Over('A', lock.EndFailed, 3, time.Second, time.Hour),
			ledgers.Over('B', lock.EndOk, 0, time.Second, 2*time.Hour)}}
	v := viewOf(24 * time.Hour)
	v.Outputs = map[string][]lock.Output{
		"job": {{Run: ledgers.Run('A'), Total: int64(len(hostile)), Tail: []byte(hostile)},
			{Run: ledgers.Run('B'), Tail: []byte("not bad")}},
		"other": {{Run: ledgers.Run('A'), Tail: []byte("of another job")}},
	}
	var printed []string
	for _, e := range checkPage(t, HTML([]lock.Job{j}, v)) {
		if e.name == "pre" {
			printed = append(printed, e.text)
		}
	}
	if want := "</pre><script>alert(1)</script>\n\\x1b[2J\\x00\uFFFD & <b>"; strings.Join(printed, "--") != want {
		t.Errorf("%q", printed)
	}
	v.Outputs["job"][0] = lock.Output{Run: ledgers.Run('A'), Total: 10 << 20,
		Tail: []byte(strings.Repeat("<", lock.MaxOutput))}
	if n := strings.Count(string(HTML([]lock.Job{j}, v)), "&lt;"); n != 4096 {
		t.Errorf("%d bytes are shown", n)
	}
}

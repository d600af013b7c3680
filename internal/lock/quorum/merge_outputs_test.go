package quorum

import (
	"fmt"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

func TestTheOutputsOfMastersAreMergedByRun(t *testing.T) {
	t.Parallel()
	output := func(run string, second int64, tail string) lock.Output {
		return lock.Output{Run: run, Ended: time.Unix(second, 0), End: lock.EndFailed, Total: int64(len(tail)),
			Tail: []byte(tail)}
	}
	of := func(address string, unread []string, outputs ...lock.Output) masterOutputs {
		return masterOutputs{address, lock.JobOutputs{Name: "job", Outputs: outputs, Unread: unread}}
	}
	merged := mergedOutputs("job", []masterOutputs{
		of("a", nil, output("new", 9, "forged"), output("old", 1, "old")),
		of("b", []string{"the output: x"}, output("new", 8, "new"), output("middle", 5, "middle")),
		of("c", nil, output("new", 10, "new"), output("middle", 5, "middle")),
	})
	text := merged.Name
	for _, o := range merged.Outputs {
		text += fmt.Sprintf(" %s:%s", o.Run, o.Tail)
	}
	if want := "job new:new middle:middle old:old"; text != want || fmt.Sprint(merged.Unread) != "[b: the output: x]" {
		t.Errorf("%q, not %q; %q", text, want, merged.Unread)
	}
	var many []lock.Output
	for i := range int64(30) {
		many = append(many, output(fmt.Sprint(i), i, ""))
	}
	merged = mergedOutputs("job", []masterOutputs{of("a", nil, many...), of("b", nil), of("c", nil)})
	if len(merged.Outputs) != 10 || merged.Outputs[0].Run != "29" {
		t.Errorf("%d, the first %+v", len(merged.Outputs), merged.Outputs[0])
	}
}

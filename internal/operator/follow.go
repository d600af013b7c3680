package operator

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// followInterval is how often history looks for new entries.
const followInterval = time.Second

// followRuns prints the remembered entries, the oldest first, and then new ones.
func (l *historyLook) followRuns(
	o *Operation, m observed[memory], read func(context.Context) (observed[memory], error),
) error {
	f := &follower{Operation: o, look: l, printed: make(map[string]bool), outage: outageReporter{Operation: o}}
	return repetition[observed[memory]]{every: followInterval, read: read, show: f.show}.run(o.Signals, m)
}

// A follower prints each entry once.
type follower struct {
	*Operation
	look    *historyLook
	printed map[string]bool
	columns []console.Column // as wide as the first rows; nil before them
	longest time.Duration
	outage  outageReporter
}

func (f *follower) show(m observed[memory], away error) error {
	if f.outage.report(away); away != nil {
		return nil
	}
	var fresh []lock.Entry
	for _, e := range slices.Backward(f.look.choice.Of(m.value.entries, m.value.job.Now)) {
		if mark := report.Mark(e); !f.printed[mark] {
			f.printed[mark] = true
			fresh = append(fresh, e)
		}
	}
	if f.look.json {
		return f.print(objects(fresh, m.value.kept.Outputs)...)
	}
	if f.columns == nil {
		if err := f.print(report.Memory(m.value.job, m.value.entries, time.Local)); err != nil {
			return err
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return f.print(report.WithOutputs(f.rows(fresh), fresh, m.value.kept.Outputs)...)
}

// rows returns lines that continue the earlier ones.
func (f *follower) rows(entries []lock.Entry) []string {
	f.longest = max(f.longest, report.Longest(entries))
	t := report.History(entries, f.longest, time.Local)
	for i := range f.columns {
		t.Columns[i].MinWidth = f.columns[i].MinWidth
	}
	t.KeepWidths()
	f.columns = t.Columns
	return t.Lines(f.display())
}

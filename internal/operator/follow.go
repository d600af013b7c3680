package operator

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/report"
)

// followEvery is how often history looks for what has come.
const followEvery = time.Second

// goOn prints what is remembered, the oldest first, and then what comes.
func (l *historyLook) goOn(o *Operation, m seen[memory], read func(context.Context) (seen[memory], error)) error {
	f := &following{Operation: o, look: l, printed: make(map[string]bool), outage: outage{Operation: o}}
	return repetition[seen[memory]]{every: followEvery, read: read, show: f.show}.run(o.Signals, m)
}

// A following prints each entry once.
type following struct {
	*Operation
	look    *historyLook
	printed map[string]bool
	columns []console.Column // as wide as what was printed first; nil before
	longest time.Duration
	outage  outage
}

func (f *following) show(m seen[memory], away error) error {
	if f.outage.tell(away); away != nil {
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
		return f.print(objects(fresh)...)
	}
	if f.columns == nil {
		if err := f.print(report.Memory(m.value.job, m.value.entries, time.Local)); err != nil {
			return err
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return f.print(f.rows(fresh)...)
}

// rows are lines that continue those before.
func (f *following) rows(entries []lock.Entry) []string {
	f.longest = max(f.longest, report.Longest(entries))
	t := report.History(entries, f.longest, time.Local)
	for i := range f.columns {
		t.Columns[i].MinWidth = f.columns[i].MinWidth
	}
	t.KeepWidths()
	f.columns = t.Columns
	return t.Lines(f.display())
}

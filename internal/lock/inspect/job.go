package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

// job returns the job of a reading. barred are the commands that the server refuses, and why.
func (j reading) job(name string, now int64, barred map[string]string) lock.Job {
	r := reader{barred: barred}
	r.job.Name = name
	if now > 0 {
		r.job.Now = time.UnixMilli(now)
	} else {
		r.unread("the time", barred["TIME"])
	}
	r.ledger(j.ledger)
	r.runs(j.runs)
	r.pause(j.pause)
	if j.resumed.code == 1 {
		r.job.Ends = wire.ReadPauseEnds(j.resumed.text(0))
	}
	r.slots(j.slots)
	r.line(j.line, j.who)
	r.lock(j.lock)
	r.fence(j.fence)
	return r.job
}

// A reader takes a reading in.
type reader struct {
	job    lock.Job
	barred map[string]string
}

func (r *reader) unread(what, why string) { r.job.Unread = append(r.job.Unread, what+": "+why) }

// has reports whether a part could be read; if not, why is noted.
func (r *reader) has(p part, what string) bool {
	switch p.code {
	case 0:
		r.unread(what, r.barred[p.text(0)])
	case -1:
		r.unread(what, "the key is of another type")
	}
	return p.code == 1
}

// vital is like has of a part without which no run takes the lock.
func (r *reader) vital(p part, what string) bool {
	if p.code == -1 {
		r.unfit(what, "the key is of another type")
		return false
	}
	return r.has(p, what)
}

// unfit notes that no run can take the lock, and why.
func (r *reader) unfit(what, why string) {
	r.unread(what, why)
	r.job.Unfit = append(r.job.Unfit, what+": "+why)
}

const odd = "redlockrun did not write it"

func (r *reader) lock(p part) {
	j := &r.job
	if p.code == -1 {
		j.State = lock.StateForeign
	}
	if !r.vital(p, "the lock") {
		return
	}
	value := p.text(0)
	if p.number == -2 {
		j.State = wire.StateOfFree(j)
		return
	}
	j.Left = left(p.number)
	pause := wire.ReadPause(value)
	if pause != nil {
		j.Pause = pause
	} else {
		j.Holder, j.At, j.Fence = wire.ReadHeld(value)
	}
	j.State = wire.StateOfHeld(j, pause != nil)
}

// fence takes the counter for the fence of a holder whose record has none: that of a quorum's
// master.
func (r *reader) fence(p part) {
	if p.code == 0 || !r.vital(p, "the fence") { // who may not read it may not read the lock: that is noted
		return
	}
	if absent := p.text(0) == "" && p.number == -2; !absent && !wire.IsFence(p.text(0)) {
		r.unfit("the fence", "it is not a number below 2^53")
	}
	if r.job.Holder.Run == "" || r.job.Fence > 0 {
		return
	}
	digits, _, _ := strings.Cut(p.text(0), " ")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
		r.job.Fence = n
	}
}

// left reads the PTTL of a key that is there.
func left(ms int64) time.Duration {
	if ms < 0 {
		return -1
	}
	return time.Duration(min(ms, int64(lock.Forever/time.Millisecond))) * time.Millisecond
}

func (r *reader) pause(p part) {
	if !r.vital(p, "the pause") || p.text(0) == "" {
		return
	}
	if r.job.Pause = wire.ReadPause(p.text(0)); r.job.Pause == nil {
		r.unfit("the pause", odd)
	}
}

func (r *reader) line(line, who part) {
	if !r.vital(line, "the queue") {
		return
	}
	r.job.Waiting = int(min(max(0, line.number), link.MostExact))
	known := r.has(who, "the waiters")
	for i, run := range line.texts {
		w := lock.Waiter{Run: run}
		if known {
			w = wire.ReadWaiter(run, who.text(i))
		}
		r.job.Waiters = append(r.job.Waiters, w)
	}
}

func (r *reader) slots(p part) {
	if !r.vital(p, "the slots") {
		return
	}
	if p.number > 0 && len(p.texts) == 0 {
		r.unread("the slots", fmt.Sprintf("there are %d, more than the %d that redlockrun writes", p.number,
			wire.MostSlots))
	}
	for i := range len(p.texts) / 2 {
		slot := lock.JobSlot{Name: p.texts[2*i], SlotState: wire.ReadSlot(p.texts[2*i+1])}
		slot.Touched = wire.SlotTouched(p.texts[2*i+1])
		r.job.Slots = append(r.job.Slots, slot)
	}
	slices.SortFunc(r.job.Slots, func(a, b lock.JobSlot) int {
		if c := b.Touched.Compare(a.Touched); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func (r *reader) ledger(p part) {
	if !r.has(p, "the ledger") {
		return
	}
	for _, field := range wire.ReadLedger(&r.job, p.texts) {
		r.unread("the ledger's "+field, odd)
	}
}

func (r *reader) runs(p part) {
	if !r.has(p, "the runs") {
		return
	}
	var strange int
	r.job.Runs, strange = wire.ReadEntries(p.texts)
	if strange > 0 {
		r.unread("the runs", fmt.Sprintf("redlockrun did not write %d of them", strange))
	}
}

package simulation

import (
	"slices"
	"time"

	"redlockrun/internal/lock"
	lockwire "redlockrun/internal/lock/wire"
)

// readings are what the referee knows of the ledger of the one server, and what was read of it.
type readings struct {
	open     string // the run that is open there
	openings int    // how often another one was
	good     string // the entry of the last success
	mean     float64
	goods    int
	sights   map[*process][]standing // how things were when somebody looked
	seen     int                     // by who looks last
}

// lookLast has somebody look when all are gone, and every lease is over. A try of a pause whose connection stood still
// can arrive after the resume, and pauses the job again: it has no tombstone, as an acquire has. That is ended before.
func (w *world) lookLast() {
	if w.last == nil {
		return
	}
	rest := w.longestLease()
	for _, f := range w.faults {
		rest = max(rest, time.Until(w.began.Add(f.at+f.length+time.Minute)))
	}
	w.clients = append(w.clients, w.last)
	go func() {
		defer func() { w.last.tell(news{kind: left, panic: recover()}) }()
		time.Sleep(rest)
		if len(w.deeds) > 0 {
			w.last.resume()
			time.Sleep(10 * time.Second) // a hand-over to somebody who is gone has lapsed by then
		}
		w.last.visit(0).look()
	}()
	w.run()
	if w.referee.seen == 0 {
		w.referee.breach("read: all are gone, and nobody could look")
	}
}

// watch takes in what a step has changed in the ledger of the one server, and what it has shown.
func (r *referee) watch(x *wire, now standing) {
	s := x.machine.server
	open, _ := do(s, "HGET", r.keys.Job, "open").(string)
	if open = open[:min(len(open), lock.RunIDLen)]; open != r.open {
		if r.open = open; open != "" {
			r.openings++
		}
	}
	if good, _ := do(s, "HGET", r.keys.Job, "good").(string); good != r.good {
		r.good = good
		if e, ok := lockwire.ReadEntry(good); ok {
			n := float64(min(r.goods, 19))
			r.mean = (r.mean*n + float64(e.Ended.Sub(e.At))) / (n + 1)
			r.goods++
		}
	}
	if d := x.process.client.deed; d != nil && d.kind == looks {
		if r.sights == nil {
			r.sights = make(map[*process][]standing)
		}
		r.sights[x.process] = append(r.sights[x.process], now)
	}
}

// read: what somebody reads is what there was when the server was asked.
func (r *referee) read(p *process, job lock.Job) {
	if p.client == r.world.last {
		r.seen++
		r.readLast(job)
		return
	}
	if r.world.machines > 1 || p.client.deed.kind != looks {
		return
	}
	for _, s := range r.sights[p] {
		if s.reads(job) {
			return
		}
	}
	r.breach("read: the job is %s, %q has it, and %d wait: that was never so", job.State, job.Holder.Run, job.Waiting)
}

// reads reports whether a job is as things stand.
func (s standing) reads(job lock.Job) bool {
	if job.Waiting != len(s.line) || len(job.Waiters) != len(s.line) {
		return false
	}
	for i, w := range job.Waiters {
		if w.Run != s.line[i] {
			return false
		}
	}
	switch {
	case s.holder == "":
		return job.Holder.Run == "" && slices.Contains([]lock.State{lock.StateIdle, lock.StateVanished,
			lock.StatePaused}, job.State)
	case s.holder == stranger:
		return job.State == lock.StateForeign && job.Holder.Foreign == stranger
	case s.fence == 0 && len(s.holder) != lock.RunIDLen:
		return job.State == lock.StatePaused && job.Pause != nil
	}
	held := []lock.State{lock.StateRunning, lock.StateEnded, lock.StateStarting, lock.StateSilent}
	return job.Holder.Run == s.holder && job.Fence == s.fence && slices.Contains(held, job.State)
}

// readLast: nobody has the lock any more, and each run that began has ended or vanished.
func (r *referee) readLast(job lock.Job) {
	if r.world.outside || r.world.forgetful() {
		return
	}
	if r.world.machines == 1 {
		r.readLists()
	}
	if r.world.refuses() {
		return
	}
	vanished := job.State == lock.StateVanished && job.Open.Run != ""
	if vanished != job.Vanished() {
		r.breach("read: the job is %s, %q is open, and to have vanished is said to be %v", job.State, job.Open.Run,
			job.Vanished())
	}
	if job.Holder.Run != "" || job.Pause != nil || !vanished && (job.State != lock.StateIdle || job.Open.Run != "") {
		r.breach("read: all are gone, and the job is %s, by %q, %q is open", job.State, job.Holder.Run, job.Open.Run)
	}
	if run := r.runs[job.Open.Run]; vanished && (run == nil || run.released && run.err == nil && run.how != "") {
		r.breach("read: %s has vanished, and has said how it ended", job.Open.Run)
	}
	for _, e := range append(job.Runs, job.LastEnd) {
		if run := r.runs[e.Run]; e.End != "" &&
			(run == nil || e.End != run.how && e.End != lock.EndVanished && !run.mayEnd(e.End)) {
			r.breach("read: %s is %s", e.Run, e.End)
		}
	}
	if run := r.runs[job.LastSuccess.Run]; job.LastSuccess.Run != "" && (run == nil || run.how != lock.EndOk) {
		r.breach("read: the last success is that of %s", job.LastSuccess.Run)
	}
	if r.world.machines == 1 {
		r.readCounts(job)
	}
}

// readCounts: the one server has counted each run once, and keeps as many as it is to.
func (r *referee) readCounts(job lock.Job) {
	began, ends := 0, make(map[lock.EndKind]int)
	for _, run := range r.ordered {
		if run.started {
			began++
		}
		for _, how := range lock.EndKinds() {
			if how == run.how || how == lock.EndVanished || run.mayEnd(how) {
				ends[how]++
			}
		}
	}
	n := 0
	for how, count := range job.Counts {
		if n += int(count); int(count) > ends[how] {
			r.breach("read: %d have ended as %s, and %d can have", count, how, ends[how])
		}
	}
	if job.Open.Run != "" {
		n++
	}
	if n < began || n > r.openings {
		r.breach("read: %d runs are counted, of %d that began, %d of them a command", n, r.openings, began)
	}
	if off := (job.Mean - time.Duration(r.mean)).Abs(); off > 20*time.Millisecond {
		r.breach("read: the mean is %v, and that of successes %v", job.Mean, time.Duration(r.mean))
	}
	last := r.runs[r.open]
	if last != nil && last.crashed && !last.releasing && !last.everFreed && job.Open.Run != last.id {
		r.breach("read: %s has died, and that is not seen", last.id)
	}
}

// readLists: so many are kept as were wanted, and acts until the next run, of which those that unlock end a run badly.
func (r *referee) readLists() {
	s := r.world.servers[0].server
	runs, bad := texts(do(s, "LRANGE", r.keys.Runs, 0, -1)), texts(do(s, "LRANGE", r.keys.Bad, 0, -1))
	unlocked := 0
	for _, c := range r.changes {
		if c.Act == lock.ActUnlock {
			unlocked++
		}
	}
	if most := r.world.keeps; len(runs) > most+2*len(r.changes) || len(bad) > most+unlocked {
		r.breach("ledger: %d runs and %d bad ones are kept, and %d should be", len(runs), len(bad), most)
	}
}

// isRemembered: the slot of who has said how it ended is the youngest, and is not forgotten before others.
func (r *referee) isRemembered(run *record) {
	if run.tick.slot == "" || run.err != nil || run.dead || r.world.machines > 1 || r.world.forgetful() {
		return
	}
	if do(r.world.servers[0].server, "HEXISTS", r.keys.Slots, run.tick.slot) == int64(0) {
		r.breach("slot: %s has ended, and its slot %q is forgotten", run.id, run.tick.slot)
	}
}

// isFull reports whether a server may have let entries go.
func (r *referee) isFull(m *machine) bool {
	return do(m.server, "LLEN", r.keys.Runs).(int64) >= int64(r.world.keeps)
}

// refuses reports whether a server has let nobody write into the ledger for a while.
func (w *world) refuses() bool {
	return slices.ContainsFunc(w.faults,
		func(f fault) bool { return f.kind == "no rights" || f.kind == "no counts" || f.kind == "no trims" })
}

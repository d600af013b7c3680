package simulation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/lock"
	lockwire "redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/simulation/server"
	"redlockrun/internal/watchdog"
)

// A referee sees all that clients know and servers hold, and says what must not be.
type referee struct {
	world     *world
	keys      lockwire.Keys
	runs      map[string]*record // by id
	ordered   []*record
	running   []*record // whose command runs
	fence     int64     // of the last that was started
	granted   int64     // of the last that the one server gave
	was       standing  // before the step that is made, at the machine that makes it
	attention attention // of those in line
	newer     bool      // a newer redlockrun uses the lock
	expires   time.Time // when what the one server has given ends at the latest, if nobody prolongs it
	refusals  int       // of the machine, before the step that is made
	latest    time.Time // when a waiter looked last
	since     time.Time // until then all who wait are excused
	chance    stream
	again     bool // a release is sent once more
	wrong     []string
	acts
	readings
}

// A record is what is known of one run.
type record struct {
	*process
	id        string
	lease     lock.Lease // nil: it never had one
	checked   time.Time  // the end of its lease for which a look is scheduled
	fence     int64
	had       bool              // the one server, or a majority, has given it the lock, and it may not know
	round     string            // of a quorum: the latest of its that a master has heard of
	givers    [mostServers]bool // the masters that have given it the lock, at some time
	started   bool
	crashed   bool // after it had the lease
	left      bool // it has given up, or given its lock back: it claims nothing any more
	how       lock.EndKind
	releasing bool
	released  bool
	err       error // of the release
	story
	meddled
	idle bool // its last step has left the lock free, and somebody in line
}

// news is what a client says of itself.
type news struct {
	at      time.Time
	kind    kind
	process *process
	run     string
	lease   lock.Lease
	how     lock.EndKind
	lost    error
	after   time.Duration // since the lock was found lost
	tries   int           // that failed since it was renewed last
	asking  bool          // a try is under way
	err     error
	panic   any

	attempts int
	change   lock.Change
	changed  lock.ChangeResult
	job      lock.Job
}

type kind string

const (
	asks     kind = "asks"
	refused  kind = "refused"
	begins   kind = "begins" // to have the lock
	starts   kind = "starts" // its command
	ends     kind = "ends"
	kept     kind = "was kept" // its lease, while the command ran
	releases kind = "releases"
	released kind = "released"
	left     kind = "is gone"

	isStopped kind = "is to stop"
	actsNow   kind = "acts" // an operator
	acted     kind = "has acted"
	reads     kind = "reads"
	hasRead   kind = "has read"
)

func newReferee(w *world) *referee {
	return &referee{
		world: w, chance: streamOf(w.seed, "repeats"), runs: make(map[string]*record),
		keys: lockwire.KeysOf(lock.DefaultPrefix, jobName, ""),
	}
}

// tell has the referee know at the end of this instant.
func (c *client) tell(n news) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	n.at, n.process = time.Now(), c.process
	if n.process != nil {
		n.run = n.process.run
	}
	c.news = append(c.news, n)
	c.world.wake()
}

func (p *process) tell(n news) { p.client.tell(n) }

// breach notes that something is that must not be.
func (r *referee) breach(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.world.note("BREACH: %s", text)
	r.wrong = append(r.wrong, text)
}

// collect reads the results of the last event.
func (r *referee) collect() {
	for _, c := range r.world.clients {
		c.world.mu.Lock()
		all := c.news
		c.news = nil
		c.world.mu.Unlock()
		for _, n := range all {
			r.hear(c, n)
		}
	}
	r.claims()
}

func (r *referee) hear(c *client, n news) {
	if n.kind == left {
		if c.gone = true; n.panic != nil {
			r.breach("panic: c%d: %v", c.number, n.panic)
		}
		r.world.note("c%d %s", c.number, n.kind)
		return
	}
	if c.deed != nil {
		r.hearDeed(c, n)
		return
	}
	r.world.note("c%d %s %s %s%s%s", c.number, n.run, n.kind, n.how, kindOf(n.err), kindOf(n.lost))
	run := r.runs[n.run]
	if run == nil {
		run = &record{process: n.process, id: n.run}
		r.runs[n.run] = run
		r.ordered = append(r.ordered, run)
	}
	if r.world.permits > 0 {
		r.hearOfPermits(run, n)
		return
	}
	r.hearMore(run, n)
	switch n.kind {
	case refused:
		run.left = true
		r.isStopped(run, n.err)
		r.refused(run, n.err)
		r.turnedAway(run, n.err)
		r.leaves(run)
	case begins:
		run.lease, run.fence = n.lease, n.lease.Fence()
	case isStopped:
		r.toldToStop(run)
	case starts:
		r.starts(run, n.at)
	case ends:
		r.ends(run, n)
	case kept:
		r.kept(run, n)
	case releases:
		run.releasing, run.left, run.how = true, true, n.how
	case released:
		run.released, run.err = true, n.err
		r.toldTruly(run)
		r.released(run)
		r.isRemembered(run)
	}
}

// kindOf is what an error says, but for its words: of several reasons which came at one instant, one is
// told.
func kindOf(err error) string {
	var lost *watchdog.LostError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, lock.ErrTaken):
		return " (taken)"
	case errors.Is(err, lock.ErrLost):
		return " (lost)"
	case errors.As(err, &lost):
		return " (no answer)"
	}
	return fmt.Sprintf(" (%T)", err)
}

// starts: a command begins, so no other may run, and its number is above all before it.
func (r *referee) starts(run *record, at time.Time) {
	run.started = true
	for _, other := range r.running {
		if !r.world.outside && !run.freed && !other.freed && !other.besides(at) {
			r.breach("exclusion: %s starts while %s runs", run.id, other.id)
		}
	}
	r.running = append(r.running, run)
	if !at.Before(run.lease.Until()) {
		r.breach("validity: %s starts after the end of its lease", run.id)
	}
	if run.fence <= r.fence && !run.freed && !r.mayRepeatFences() {
		r.breach("fence: %s starts with %d after %d", run.id, run.fence, r.fence)
	}
	r.fence = max(r.fence, run.fence)
	r.slotStarts(run)
	r.pausedStart(run)
}

func (r *referee) ends(run *record, n news) {
	r.running = slices.DeleteFunc(r.running, func(other *record) bool { return other == run })
	if run.dead {
		run.crashed = true
	}
	if n.at.After(run.lease.Until()) && !run.without {
		r.breach("validity: the command of %s outlives its lease by %v", run.id, n.at.Sub(run.lease.Until()))
	}
	if errors.Is(n.lost, errGuard) {
		r.breach("guard: the guard kills the command of %s, whose redlockrun is there", run.id)
	}
	if errors.Is(n.lost, lock.ErrTaken) && n.after > beside+r.world.times.Margin/2 {
		r.breach("exclusion: the command of %s runs on for %v beside another's lock", run.id, n.after)
	}
	// Nothing but another's act can take a lock that is renewed in time.
	if errors.Is(n.lost, lock.ErrLost) && !run.freed && !r.world.outside && !r.world.forgetful() {
		r.breach("renewal: %s has lost its lock: %v", run.id, n.lost)
	}
}

// beside is how long a command has to end itself when another has its lock.
const beside = time.Second

// kept: a lease is given up for want of an answer when two tries have had none, and nobody asks for it afterwards.
func (r *referee) kept(run *record, n news) {
	if n.asking {
		r.breach("renewal: the lease of %s is kept no more, and a try is under way", run.id)
	}
	unanswered := errors.As(n.lost, new(*watchdog.LostError)) && !errors.Is(n.lost, lock.ErrLost) &&
		!errors.Is(n.lost, watchdog.ErrLate)
	if unanswered && n.tries < 2 && !run.tick.continues {
		r.breach("renewal: %s gives its lease up after %d tries: %v", run.id, n.tries, n.lost)
	}
}

// claims: whoever has a lease that has not ended has the lock at the server, or at a majority.
func (r *referee) claims() {
	if r.world.permits > 0 {
		return
	}
	for _, run := range r.ordered {
		if run.lease == nil || run.left || run.freed {
			continue
		}
		until := run.lease.Until()
		if !time.Now().Before(until) {
			continue
		}
		left := time.Duration(0)
		if until != run.checked {
			run.checked = until
			r.look(until)
			left = time.Until(until)
		}
		if n := r.holds(run.id, left); n <= r.world.machines/2 && !r.world.outside {
			r.breach("validity: %s has a lease for %v, and the lock at %d of %d", run.id, time.Until(until), n,
				r.world.machines)
		}
	}
}

// look has the referee look at the last moment of a lease.
func (r *referee) look(until time.Time) {
	if at := r.world.in(refereeLane, until.Add(-2*lanes)); at.After(time.Now()) {
		r.world.schedule(at, func() {})
	}
}

// refereeLane is the last of those for faults.
const refereeLane = faultLanes - 1

// holds is at how many machines a run has the lock, and for as long as it is left. One that has forgotten it
// is not counted against the run.
func (r *referee) holds(run string, left time.Duration) (n int) {
	for _, m := range r.world.servers {
		value, _ := m.server.Get(r.keys.Lock)
		if m.lost && r.world.machines > 1 || strings.HasPrefix(value, `{"run":"`+run+`"`) &&
			m.lasts(r.keys.Lock, left) {
			n++
		}
	}
	return n
}

// lasts reports whether a key has so long to live, by the clock of who asks.
func (m *machine) lasts(key string, left time.Duration) bool {
	ms, _ := do(m.server, "PTTL", key).(int64)
	return left == 0 || time.Duration(float64(time.Duration(ms+1)*time.Millisecond)/m.rate) >= left
}

// forgetful reports whether a server has lost its data.
func (w *world) forgetful() bool {
	return slices.ContainsFunc(w.servers, func(m *machine) bool { return m.lost })
}

// A standing is what a server has: whose the lock is, and, of the one server, who waits.
type standing struct {
	value  string // of the lock, as it is there
	holder string
	fence  int64
	round  string // of a quorum: that the lock was taken by
	left   int64  // PTTL of the lock
	line   []string
	there  []bool  // by place: somebody listens for that run
	seen   []int64 // when it looked last, by the server's clock
	called []bool  // it can be called
}

func (r *referee) standing(m *machine) (s standing) {
	s = r.holding(m)
	s.line = texts(do(m.server, "ZRANGE", r.keys.Queue, 0, -1))
	for _, run := range s.line {
		counts := do(m.server, "PUBSUB", "NUMSUB", r.keys.Channel(run)).([]any)
		s.there = append(s.there, counts[1].(int64) > 0)
		seen, called := r.entry(m, run)
		s.seen, s.called = append(s.seen, seen), append(s.called, called)
	}
	return s
}

// holding is whose the lock is, alone.
func (r *referee) holding(m *machine) (s standing) {
	s.value, _ = m.server.Get(r.keys.Lock)
	s.holder, s.fence = readHolder(s.value)
	s.round = roundOf(s.value)
	s.left, _ = do(m.server, "PTTL", r.keys.Lock).(int64)
	return s
}

// readHolder is the run that a value of the lock names, "" if there is none; of a pause its beginning.
func readHolder(value string) (run string, fence int64) {
	if !strings.HasPrefix(value, `{"run":"`) {
		return value[:min(len(value), 36)], 0
	}
	_, number, _ := strings.Cut(value, `"fence":`)
	number, _, _ = strings.Cut(number, ",")
	fence, _ = strconv.ParseInt(number, 10, 64)
	return value[8 : 8+lock.RunIDLen], fence
}

func do(s *server.Server, words ...any) any {
	reply, err := s.Do(words...)
	if err != nil {
		panic(fmt.Sprint(words, ": ", err))
	}
	return reply
}

func texts(reply any) (all []string) {
	list, _ := reply.([]any)
	for _, part := range list {
		all = append(all, part.(string))
	}
	return all
}

// before and after stand around each request that a server carries out.
func (r *referee) before(x *wire) {
	if r.world.permits > 0 {
		return
	}
	r.refusals = x.machine.server.Refusals()
	r.rested = r.wanted(x.machine)
	if r.world.machines == 1 {
		r.was = r.standing(x.machine)
	} else {
		r.was = r.holding(x.machine)
	}
}

// wanted reports whether somebody wants the job to pause.
func (r *referee) wanted(m *machine) bool {
	_, found := m.server.Get(r.keys.Paused)
	return found
}

func (r *referee) after(x *wire) {
	if r.world.permits > 0 {
		return
	}
	defer r.judge(x)
	r.deeds(x)
	if r.world.machines > 1 {
		r.isVote(x)
		return
	}
	now := r.standing(x.machine)
	r.looks(x, now)
	r.counts(x, now)
	r.noteIdle(x, now)
	r.noteLoss(x, now)
	r.watch(x, now)
	r.isForeign(now, x)
	r.noteDismissedLook(x)
	if now.holder == "" && !r.newer && (r.was.holder != "" || r.rested && !r.wanted(x.machine)) {
		r.isFree(now)
	}
	if now.holder != r.was.holder && r.runs[now.holder] != nil {
		r.isGiven(now, x)
		if now.holder == x.process.run {
			r.noteLastLook(x)
		}
	}
	r.inOrder(now)
	r.noteLook(x.machine, now)
	if len(now.line) > 0 && now.holder != "" {
		r.mustFollow(x.machine, now)
	}
}

// isForeign: nobody prolongs, shortens or takes away what another has. What is written in a last millisecond has one
// more.
func (r *referee) isForeign(now standing, x *wire) {
	owner := r.runs[r.was.holder]
	left := r.was.left
	if left == 0 && now.left == 1 {
		left = 1
	}
	if owner != nil && owner.process != x.process && !r.frees(x, owner.id) &&
		(now.holder != r.was.holder || now.left != left) {
		r.breach("owner: %s had the lock for %d ms, and by a step of %s %q has it for %d ms",
			r.was.holder, r.was.left, x.name, now.holder, now.left)
	}
}

// isFree: after a step that freed the lock nobody waits who is there.
func (r *referee) isFree(now standing) {
	for i, run := range now.line {
		if now.there[i] {
			r.breach("line: the lock of %s is given to nobody, and %s waits", cmp.Or(r.was.holder, "a pause"), run)
		}
	}
}

// isGiven: each grant has a number above all before it, and goes to who is next.
func (r *referee) isGiven(now standing, x *wire) {
	r.isKept(x.machine)
	r.isAnnounced(r.runs[now.holder], x)
	if now.fence <= r.granted && !r.mayRepeatFences() {
		r.breach("fence: %s is given the lock with %d after %d", now.holder, now.fence, r.granted)
	}
	r.granted = max(r.granted, now.fence)
	r.runs[now.holder].had, r.runs[now.holder].freed = true, false
	if r.pausedGrant(r.runs[now.holder]) {
		return
	}
	if r.newer {
		r.breach("fence: %s is given a lock that a newer redlockrun uses", now.holder)
	}
	r.isNext(now, x)
}

// dismissed reports whether there is nothing to be done for a waiter's slot.
func (r *referee) dismissed(m *machine, run *record) bool {
	if run.tick.slot == "" {
		return false
	}
	value, _ := do(m.server, "HGET", r.keys.Slots, run.tick.slot).(string)
	s := lockwire.ReadSlot(value)
	return s.Closed || len(s.Failures)+begun(s) >= slotTries
}

func begun(s lock.SlotState) int {
	if s.Begun.Run != "" {
		return 1
	}
	return 0
}

// succession is how long a lock may be free while one of the first three in line is there,
// with what messages take on their way.
const succession = 500*time.Millisecond + 100*time.Millisecond

// mustFollow: a lease that ends is followed by the first in line.
func (r *referee) mustFollow(m *machine, now standing) {
	if now.left <= 0 || now.holder == stranger { // who takes the lock by hand tells nobody when that ends
		return
	}
	ttl := time.Duration(now.left) * time.Millisecond
	r.expires = time.Now().Add(ttl + ttl/50)
	r.world.schedule(r.world.in(refereeLane, r.expires.Add(succession)), func() { r.isFollowed(m, now) })
}

func (r *referee) isFollowed(m *machine, before standing) {
	now := r.standing(m)
	if now.holder != "" || time.Since(r.expires) < succession || m.wasPolling() || r.world.wrongClocks() || r.newer {
		return
	}
	if r.wanted(m) { // who had the lock before had ignored that
		return
	}
	for i, run := range now.line[:min(len(now.line), 3)] {
		if w := r.runs[run]; w != nil && now.there[i] && !w.process.disturbed && !w.left &&
			slices.Contains(before.line, run) {
			r.breach("line: %s waits, and nobody has had the lock of %s since its ttl has ended", run, before.holder)
		}
	}
}

package line_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// slotted is a server for runs of one slot, of which two may fail.
func slotted(t *testing.T) steps {
	t.Helper()
	s := newSteps(t)
	s.slot, s.tries = "5m", 2
	return s
}

func (s steps) state() lock.SlotState {
	s.t.Helper()
	value, _ := s.do("HGET", "{n}:slots", s.slot).(string)
	return wire.ReadSlot(value)
}

// failures are the letters of the runs that have failed in the slot.
func (s steps) failures() string {
	var runs strings.Builder
	for _, f := range s.state().Failures {
		runs.WriteString(f.Run[:1])
	}
	return runs.String()
}

// vanish lets a holder's lock end without a word.
func (s steps) vanish() { s.t.Helper(); s.do("DEL", "{n}") }

func TestASlotIsClosedBySuccessAlone(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	if got := s.state(); got.Begun.Run != testID("a") || got.Begun.Host != "host-a" {
		t.Errorf("begun: %+v", got)
	}
	s.end("a", 0, 0, "failed", 1)
	if got := s.state(); got.Closed || got.Begun.Run != "" || s.failures() != "a" || got.Failures[0].Status != 1 {
		t.Errorf("after a failure: %+v", got)
	}
	s.code(s.once("b"), 1)
	s.end("b", 0, 0, "ok", 0)
	if got := s.state(); !got.Closed || got.By.Run != testID("b") || got.By.Host != "host-b" {
		t.Errorf("after a success: %+v", got)
	}
	s.code(s.once("c"), 6)
	s.want("", "")
}

func TestAnotherSlotIsAnotherMatter(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	s.end("a", 0, 0, "ok", 0)
	s.slot = "later"
	s.code(s.once("b"), 1)
	s.end("b", 0, 0, "failed", 1)
	s.slot = ""
	s.code(s.once("c"), 1)
	s.release("c")
}

func TestTriesAreUsedUp(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	for _, run := range []string{"a", "b"} {
		s.code(s.once(run), 1)
		s.end(run, 0, 0, "failed", 1)
		s.end(run, 0, 0, "failed", 1) // once more: an id counts once
	}
	if s.failures() != "ab" {
		t.Errorf("failed: %s", s.failures())
	}
	s.code(s.once("c"), 7)
	s.tries = 3
	s.code(s.once("c"), 1)
}

// The slot is asked before it is asked whether the lock is busy.
func TestAClosedSlotDismissesWhileTheLockIsHeld(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	s.end("a", 60000, 0, "ok", 0)
	s.code(s.once("b"), 6) // the min-hold of a
	s.code(s.look("b"), 6)
	s.vanish()
	other := s
	other.slot = "later"
	other.code(other.once("d"), 1)
	s.code(s.once("b"), 6)
	other.code(other.once("d"), 2) // the lock is its own
}

// A run that died without a word is a failed try, with or without a ledger.
func TestAVanishedRunIsATry(t *testing.T) {
	t.Parallel()
	for _, history := range []int{0, 50} {
		s := slotted(t)
		s.history = history
		s.code(s.once("a"), 1)
		s.code(s.once("x"), 0) // a is alive
		s.vanish()
		s.code(s.once("b"), 1)
		if got := s.state(); s.failures() != "a" || got.Failures[0].End != lock.EndVanished {
			t.Errorf("after one: %+v", got)
		}
		s.vanish()
		s.code(s.once("c"), 7)
		s.end("b", 0, 0, "ok", 0) // late: it was only slow
		s.code(s.once("c"), 6)
	}
}

func TestARunThatDidNothingIsNoTry(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	for _, run := range []string{"a", "b", "c"} {
		s.code(s.once(run), 1)
		s.release(run)
	}
	if got := s.state(); got.Closed || got.Begun.Run != "" || s.failures() != "" {
		t.Errorf("%+v", got)
	}
}

// An overtaken run's late end is its own slot's matter.
func TestALateEndClosesItsOwnSlotAlone(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	s.vanish()
	later := s
	later.slot = "later"
	later.code(later.once("b"), 1)
	s.end("a", 0, 0, "ok", 0)
	if !s.state().Closed || later.state().Closed || later.state().Begun.Run != testID("b") {
		t.Errorf("%+v, %+v", s.state(), later.state())
	}
	s.want("b", "")
}

// Nor does it end whoever has begun in that slot since: were that one to vanish, it would be no try.
func TestALateEndLeavesWhoeverHasBegunSince(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"failed", "stopped"} {
		s := slotted(t)
		s.code(s.once("a"), 1)
		s.vanish()
		s.code(s.once("b"), 1)
		s.end("a", 0, 0, how, 1)
		if got := s.state(); got.Begun.Run != testID("b") || s.failures() != "a" {
			t.Errorf("%s: begun %+v, failed %s", how, got.Begun, s.failures())
		}
		s.vanish()
		s.code(s.once("c"), 7)
	}
}

func TestSixteenSlotsAreKept(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	for i := range 20 {
		s.slot = fmt.Sprintf("s%02d", i)
		run := string(rune('a' + i))
		s.code(s.once(run), 1)
		s.end(run, 0, 0, "ok", 0)
		locktest.Until(t, "a millisecond", func() bool { return clockOf(s) > lastTouched(s) })
	}
	if n := s.do("HLEN", "{n}:slots").(int64); n != 16 {
		t.Errorf("%d slots", n)
	}
	if !s.state().Closed || s.do("HGET", "{n}:slots", "s03") != nil || s.do("HGET", "{n}:slots", "s04") == nil {
		t.Error("not the latest sixteen")
	}
}

func clockOf(s steps) (ms int64) {
	var seconds, micros int64
	now := s.do("TIME").([]any)
	fmt.Sscan(fmt.Sprint(now[0], " ", now[1]), &seconds, &micros)
	return seconds*1000 + micros/1000
}

func lastTouched(s steps) (ms int64) {
	fmt.Sscanf(s.do("HGET", "{n}:slots", s.slot).(string), "closed %d", &ms)
	return ms
}

// The next ones have nothing to do: they are told so, and the first of another slot has its turn.
func TestASuccessDismissesItsWaiters(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	messages := map[string]func() string{}
	for _, run := range []string{"b", "c"} {
		messages[run], _ = s.listen(run)
		s.code(s.look(run), 0)
	}
	later := s
	later.slot = "later"
	later.join("d")
	s.join("e")
	s.end("a", 0, 0, "ok", 0)
	s.want("d", "e")
	for run, next := range messages {
		message := next()
		for message == "p" || strings.HasPrefix(message, "n ") {
			message = next()
		}
		if state, found := strings.CutPrefix(message, "d "); !found || wire.ReadSlot(state).By.Run != testID("a") {
			t.Errorf("%s is told %q", run, message)
		}
	}
	later.code(later.confirm("d"), 2)
	later.end("d", 0, 0, "failed", 1)
	s.want("", "")
}

func TestAFailureGivesTheNextItsTurn(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	s.join("b", "c")
	s.end("a", 0, 0, "failed", 1)
	s.want("b", "c")
	s.code(s.confirm("b"), 2)
	s.end("b", 0, 0, "failed", 1)
	s.want("", "") // c has nothing left to try
	s.code(s.look("c"), 7)
}

// Slots that cannot be written stop a run that has one, and no other; nothing is held.
func TestASlotThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.do("SET", "{n}:slots", "x")
	if got := s.code(s.once("a"), -1); got[1] != int64(6) || got[2] != "string" {
		t.Errorf("%v", got)
	}
	s.want("", "")
	s.slot = ""
	s.code(s.once("b"), 1)
	s.release("b")
	for _, words := range []string{"HGET", "HLEN", "HSET"} {
		srv := redistest.Start(t, redistest.Options{Args: []string{"--rename-command", words, ""}})
		req := locktest.RequestFor("job")
		req.Slot = lock.Slot{Name: "5m", Tries: 2}
		_, err := open(t, srv.URL()).Acquire(t.Context(), req)
		if e := locktest.MustBeUnavailable(t, err); !strings.Contains(e.Error(), words) {
			t.Errorf("without %s: %v", words, err)
		}
		if n := locktest.Do(t, srv, "EXISTS", jobKey); n != int64(0) {
			t.Errorf("without %s the lock is left", words)
		}
	}
}

// inSlot is a request for a run of a slot.
func inSlot(limit time.Duration) lock.Request {
	req := waits("job", limit)
	req.Slot, req.History = lock.Slot{Name: "5m 2026-03-01T12:05Z", Tries: 2}, 50
	return req
}

func TestADismissedWaiterIsToldWhoDidIt(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	first := inSlot(0)
	held := locktest.Acquire(t, s, first)
	done, _ := park(t, srv, s, inSlot(lock.Forever), 1)
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), end))
	var did *lock.SlotDoneError
	if r := got(t, done); !errors.As(r.err, &did) || did.By.Run != first.Holder.Run || did.By.Host != "web-3" {
		t.Errorf("the waiter: %v", r.err)
	}
	if _, err := s.Acquire(t.Context(), inSlot(0)); !errors.As(err, &did) || did.Slot != first.Slot.Name {
		t.Errorf("a newcomer: %v", err)
	}
	wantInLine(t, srv, 0)
}

// Its message is lost: it finds out when it looks.
func TestADismissalThatIsLostIsFoundOut(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	held := locktest.Acquire(t, s, inSlot(0))
	done, _ := park(t, srv, s, inSlot(lock.Forever), 1)
	locktest.Do(t, srv, "HSET", jobKey+":slots", inSlot(0).Slot.Name, "closed 5 "+testID("z")+"/web-9/ok/0/5")
	locktest.Do(t, srv, "CLIENT", "KILL", "TYPE", "pubsub")
	var did *lock.SlotDoneError
	if r := got(t, done); !errors.As(r.err, &did) || did.By.Host != "web-9" {
		t.Errorf("the waiter: %v", r.err)
	}
	release(t, held)
}

func TestUsedUpTriesAreToldWithWhoFailed(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	for range 2 {
		l := locktest.Acquire(t, s, inSlot(0))
		end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 3, Attempts: 1}}
		locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	}
	var used *lock.TriesExhaustedError
	if _, err := s.Acquire(t.Context(), inSlot(0)); !errors.As(err, &used) || len(used.Failures) != 2 ||
		used.Failures[1].Status != 3 {
		t.Errorf("%v", err)
	}
}

// A release for a slot goes on trying: nobody else can begin before the end of the lease.
func TestAReleaseForASlotIsTriedUntilTheEnd(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	l := locktest.Acquire(t, s, inSlot(0))
	for range 4 {
		p.LoseReply("failed")
	}
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 1, Attempts: 1}}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	value := locktest.Do(t, srv, "HGET", jobKey+":slots", inSlot(0).Slot.Name).(string)
	if n := len(wire.ReadSlot(value).Failures); n != 1 {
		t.Errorf("%d failed: %s", n, value)
	}
	if n := locktest.Do(t, srv, "LLEN", jobKey+":runs").(int64); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// What the server does not let the run do, it will not let it do in a moment either.
func TestAReleaseForASlotThatIsDeniedIsTriedOnce(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	l := locktest.Acquire(t, open(t, srv.URL()), inSlot(0))
	locktest.Do(t, srv, "ACL", "SETUSER", "default", "-eval", "-evalsha")
	before := denied(t, srv)
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}
	if err := l.Release(locktest.Limited(t, 10*time.Second), end); err == nil ||
		!strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("got %v", err)
	}
	if n := denied(t, srv) - before; n != 1 {
		t.Errorf("it was tried %d times", n)
	}
}

// denied is how many requests the server has refused for want of a right.
func denied(t *testing.T, srv *redistest.Server) (n int64) {
	t.Helper()
	for _, entry := range locktest.Do(t, srv, "ACL", "LOG").([]any) {
		n += entry.([]any)[1].(int64) // its first field is count
	}
	return n
}

// However many wait, a step takes no more than 250 out of line: whoever looks next goes on.
func TestAThousandAreDismissedInSteps(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.code(s.once("a"), 1)
	s.do("EVAL", `for i = 1, 600 do
		local run = string.format('%026d', i)
		redis.call('ZADD', KEYS[1], i, run)
		redis.call('HSET', KEYS[2], run, ARGV[1] .. ' 1 5m 2 {"run":"' .. run .. '","v":1}')
	end return 1`, 2, "{n}:queue", "{n}:waiters", clockOf(s))
	s.end("a", 0, 0, "ok", 0)
	for _, want := range []int64{350, 99, 0} {
		if got := s.do("ZCARD", "{n}:queue"); got != want {
			t.Fatalf("%d are left in line, not %d", got, want)
		}
		if want > 0 {
			first := s.do("ZRANGE", "{n}:queue", 0, 0).([]any)[0].(string)
			if got := s.lookAs(first); got[0] != int64(6) {
				t.Fatalf("the first is told %v", got)
			}
		}
	}
}

// A thousand wait, and one does their work: how long the last of them waits for that, and
// how long the server was in one step.
func TestAThousandWaitersAreDismissed(t *testing.T) {
	ability.Slow(t)
	const waiters = 1000
	srv, s := served(t)
	long := inSlot(0)
	long.Times = lock.TimesOf(time.Hour) // a busy machine takes its time to connect so many
	held := locktest.Acquire(t, s, long)
	var queue []<-chan result
	for n := range int64(waiters) {
		req := inSlot(lock.Forever)
		req.Timeout = locktest.Patience
		done, _ := begin(t, s, req)
		queue = append(queue, done)
		locktest.Until(t, "but a few are in line", func() bool { return inLine(t, srv, "job") > n-20 })
	}
	locktest.Until(t, "all in line", func() bool { return inLine(t, srv, "job") == waiters })
	locktest.Do(t, srv, "CONFIG", "SET", "slowlog-log-slower-than", "1000")
	locktest.Do(t, srv, "SLOWLOG", "RESET")
	began := time.Now()
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), end))
	for _, done := range queue {
		if r := got(t, done); !errors.As(r.err, new(*lock.SlotDoneError)) {
			t.Fatalf("a waiter: %v", r.err)
		}
	}
	longest := int64(0)
	for _, entry := range locktest.Do(t, srv, "SLOWLOG", "GET", 100).([]any) {
		longest = max(longest, entry.([]any)[2].(int64))
	}
	t.Logf("%d waiters: the last was told after %s; the longest step took %s", waiters, time.Since(began),
		time.Duration(longest)*time.Microsecond)
	wantInLine(t, srv, 0)
}

// lookAs is a look of a run whose id is no letter.
func (s steps) lookAs(id string) []any {
	s.t.Helper()
	words := []any{"EVAL", s.text("acquire"), wire.KeyCount}
	for _, key := range wire.KeysOf("", "n", id).All() {
		words = append(words, key)
	}
	by := step.Asker{Run: id, Words: "h u 1 c " + s.slot, Slot: s.slot, Name: "n", Names: "jobs"}
	return s.do(append(words, by.Args(`{"run":"`+id+`","v":1}`, testTTL, "wait", 0, s.tries, 0)...)...).([]any)
}

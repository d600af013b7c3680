package line_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// remembering is a server that keeps the last three runs of "n".
func remembering(t *testing.T) steps {
	t.Helper()
	s := newSteps(t)
	s.history = 3
	return s
}

func (s steps) field(name string) string {
	s.t.Helper()
	text, _ := s.do("HGET", "{n}:job", name).(string)
	return text
}

func (s steps) entry(name string) lock.Entry {
	s.t.Helper()
	e, _ := wire.ReadEntry(s.field(name))
	return e
}

// entries are the letters of the runs in a list, newest first, each with how it ended.
func (s steps) entries(list string) string {
	s.t.Helper()
	var all []string
	for _, text := range s.do("LRANGE", "{n}:"+list, 0, -1).([]any) {
		e, ok := wire.ReadEntry(text.(string))
		if !ok {
			s.t.Errorf("no entry: %q", text)
			continue
		}
		all = append(all, e.Run[:1]+" "+string(e.End))
	}
	return strings.Join(all, ", ")
}

func (s steps) count(how lock.EndKind) string { s.t.Helper(); return s.field("count:" + string(how)) }

func (s steps) wantEntries(runs, bad string) {
	s.t.Helper()
	if r, b := s.entries("runs"), s.entries("bad"); r != runs || b != bad {
		s.t.Errorf("runs %q, bad %q; want %q, %q", r, b, runs, bad)
	}
}

func TestARunIsOpenUntilItEnds(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.code(s.once("a"), 1)
	open := s.entry("open")
	if open.Run != testID("a") || open.Host != "host-a" || open.Command != "cmd" || open.Fence == 0 ||
		open.At.IsZero() || open.Asked != open.At {
		t.Errorf("open: %+v", open)
	}
	s.code(s.once("a"), 2) // asked again after a lost reply
	s.end("a", 0, 0, "ok", 0)
	last := s.entry("last")
	if s.field("open") != "" || last.Run != testID("a") || last.End != lock.EndOk || last.Ended.IsZero() ||
		last.Attempts != 1 || last.Status != 0 {
		t.Errorf("last: %+v", last)
	}
	if good := s.entry("good"); good != last {
		t.Errorf("good: %+v", good)
	}
	s.end("a", 0, 0, "ok", 0) // the reply was lost
	s.code(s.once("b"), 1)
	s.end("b", 0, 0, "failed", 7)
	s.wantEntries("b failed, a ok", "b failed")
	if s.count("ok") != "1" || s.count("failed") != "1" || s.entry("good").Run != testID("a") ||
		s.entry("last").Status != 7 {
		t.Errorf("ok %s, failed %s, last %+v", s.count("ok"), s.count("failed"), s.entry("last"))
	}
}

func TestTheListsKeepSoManyAndTheBadLonger(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	for _, run := range []string{"a", "b", "c", "d", "e", "f"} {
		how := "ok"
		if run < "c" {
			how = "failed"
		}
		s.code(s.once(run), 1)
		s.end(run, 0, 0, how, 0)
	}
	s.wantEntries("f ok, e ok, d ok", "b failed, a failed")
}

func TestARunThatDiedIsEnteredByTheNext(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.code(s.once("a"), 1)
	s.vanish()
	s.code(s.once("b"), 1)
	s.wantEntries("a vanished", "a vanished")
	if s.count("vanished") != "1" || s.entry("open").Run != testID("b") {
		t.Errorf("open %+v", s.entry("open"))
	}
	s.end("a", 0, 0, "ok", 0) // it was only slow: the later entry is right, and moves no count
	s.wantEntries("a ok, a vanished", "a vanished")
	if s.count("ok") != "" || s.entry("open").Run != testID("b") || s.entry("last").End != lock.EndVanished {
		t.Error("a late report has moved more than the list")
	}
}

// What only looks like it: none of these has vanished, or counts twice.
func TestWhoHasNotVanished(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.code(s.once("a"), 1)
	s.join("b")
	s.end("a", 0, 0, "ok", 0)
	s.want("b", "") // b is frozen: its hand-over lapses, and is none of a run
	s.vanish()
	s.code(s.once("c"), 1)
	s.wantEntries("a ok", "")
	s.release("c") // it has not begun its command
	s.code(s.once("d"), 1)
	s.end("d", 60000, 0, "ok", 0) // the rest of a min-hold
	s.code(s.once("e"), 0)
	s.vanish()
	s.code(s.once("f"), 1)
	s.end("f", 0, 0, "ok", 0)
	s.release("c")
	s.wantEntries("f ok, d ok, a ok", "")
	if s.count("vanished") != "" || s.count("ok") != "3" {
		t.Errorf("%s vanished, %s ok", s.count("vanished"), s.count("ok"))
	}
}

// A hand-over enters nothing until it is confirmed.
func TestAHandOverBeginsWithItsConfirmation(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.code(s.once("a"), 1)
	s.join("b")
	s.end("a", 0, 0, "ok", 0)
	if s.field("open") != "" {
		t.Errorf("open: %s", s.field("open"))
	}
	s.code(s.confirm("b"), 2)
	s.code(s.confirm("b"), 2)
	if e := s.entry("open"); e.Run != testID("b") {
		t.Errorf("open: %+v", e)
	}
	s.end("b", 0, 0, "ok", 0)
	s.wantEntries("b ok, a ok", "")
}

func TestWithoutHistoryNothingIsWritten(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.code(s.once("a"), 1)
	s.end("a", 0, 0, "failed", 1)
	if got := s.keys(); !slices.Equal(got, []string{"{n}:fence"}) {
		t.Errorf("left: %v", got)
	}
}

func TestAJobIsListedOnceADay(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.do("ZADD", "jobs", 5, "long ago")
	s.code(s.once("a"), 1)
	s.release("a")
	if names := s.do("ZRANGE", "jobs", 0, -1).([]any); len(names) != 1 || names[0] != "n" {
		t.Errorf("listed: %v", names)
	}
	s.do("ZADD", "jobs", clockOf(s)-3_600_000, "n")
	earlier := fmt.Sprint(s.do("ZSCORE", "jobs", "n"))
	s.code(s.once("b"), 1)
	if score := fmt.Sprint(s.do("ZSCORE", "jobs", "n")); score != earlier {
		t.Errorf("listed again on the same day: %s", score)
	}
	s.release("b")
	s.do("HSET", "{n}:job", "listed", 1)
	s.code(s.once("c"), 1)
	if score := fmt.Sprint(s.do("ZSCORE", "jobs", "n")); score == earlier {
		t.Error("not listed on the next day")
	}
}

// A set of names that was lost is made anew by those that begin, with no further round trip.
func TestAJobThatTheSetOfNamesHasLostIsListedAgain(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.code(s.once("a"), 1)
	s.release("a")
	s.do("DEL", "jobs")
	s.code(s.once("b"), 1)
	if s.do("ZSCORE", "jobs", "n") == nil || s.do("PTTL", "jobs").(int64) <= 0 {
		t.Error("not listed, or for ever")
	}
}

func TestTheMeanIsThatOfSuccesses(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	s.code(s.once("a"), 1)
	s.end("a", 0, 0, "failed", 1)
	if s.field("mean") != "" {
		t.Error("a failure has a mean")
	}
	s.code(s.once("b"), 1)
	s.do("HSET", "{n}:job", "mean", fmt.Sprintf("19 %d", clockOf(s)))
	s.end("b", 0, 0, "ok", 0) // it says that it began at 7 ms: long ago
	var n, ms int64
	fmt.Sscan(s.field("mean"), &n, &ms)
	if now := clockOf(s); n != 20 || ms < now-1000 || ms > now {
		t.Errorf("mean %s", s.field("mean"))
	}
}

// A breakage spoils the ledger of "job" in some way.
type breakage struct {
	name  string
	args  []string
	spoil func(t *testing.T, srv *redistest.Server)
}

var garbage = []string{"", "x", "- - -", strings.Repeat("z", 5000), "\x00\xff 1 2 3 4 5 6 7 8 9",
	testID("v") + " h u 1 c - 0 1 2 3"}

// breakages are ledgers that are missing, forbidden, forged or of the wrong type.
func breakages() []breakage {
	set := func(words ...any) func(*testing.T, *redistest.Server) {
		return func(t *testing.T, srv *redistest.Server) { locktest.Do(t, srv, words...) }
	}
	all := []breakage{
		{name: "job of another type", spoil: set("SET", jobKey+":job", "x")},
		{name: "runs of another type", spoil: set("SET", jobKey+":runs", "x")},
		{name: "bad of another type", spoil: set("HSET", jobKey+":bad", "x", "y")},
		{name: "names of another type", spoil: set("SET", "redlockrun:jobs", "x")},
		{name: "counts that are none", spoil: set("HSET", jobKey+":job", "count:ok", "x", "mean", "y z", "listed",
			"soon")},
		{name: "an entry of one word", spoil: set("LPUSH", jobKey+":runs", "x", strings.Repeat("y", 9999))},
	}
	for i, text := range garbage {
		all = append(all, breakage{name: fmt.Sprintf("a forged run %d", i),
			spoil: set("HSET", jobKey+":job", "open", text)})
	}
	for _, command := range []string{"HMGET", "HSET", "LPUSH", "LTRIM", "LINDEX", "HINCRBY", "ZADD",
		"ZREMRANGEBYSCORE"} {
		all = append(all, breakage{name: "no " + command, args: []string{"--rename-command", command, ""}})
	}
	return all
}

func (b breakage) start(t *testing.T) (*redistest.Server, lock.Store) {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{Args: b.args})
	if b.spoil != nil {
		b.spoil(t, srv)
	}
	return srv, open(t, srv.URL())
}

// A ledger decides nothing: with a broken one each run goes as without.
func TestABrokenLedgerChangesNoRun(t *testing.T) {
	t.Parallel()
	for _, b := range breakages() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			_, s := b.start(t)
			for _, outcome := range []lock.RunResult{{}, {End: lock.EndOk, Attempts: 1},
				{End: lock.EndFailed, Status: 1, Attempts: 2}} {
				req := locktest.RequestFor("job")
				req.History = 50
				l := locktest.Acquire(t, s, req)
				locktest.MustBeBusy(t, s, "job")
				renewOnce(t, l)
				locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience),
					lock.ReleaseRequest{Result: outcome}))
			}
			l := locktest.Acquire(t, s, locktest.RequestFor("job"))
			release(t, l)
		})
	}
}

// Nor does it change the order of a line.
func TestABrokenLedgerChangesNoOrder(t *testing.T) {
	t.Parallel()
	for _, b := range breakages() {
		if len(b.args) > 0 && strings.Contains(lock.WaitingACL, "+"+strings.ToLower(b.args[1])) {
			continue // without it there is no line
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			srv, s := b.start(t)
			first := waits("job", 0)
			first.History = 50
			held := locktest.Acquire(t, s, first)
			var queue []<-chan result
			for i := range 3 {
				req := waits("job", lock.Forever)
				req.History = 50
				done, _ := park(t, srv, s, req, int64(i+1))
				queue = append(queue, done)
			}
			release(t, serve(t, held, queue...))
		})
	}
}

// Each refusal is a line in the log of the ACL: a step writes one at most.
func TestAnOldACLIsRefusedOnceAStep(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	locktest.Do(t, srv, append([]any{"ACL", "SETUSER", "old", "on", ">pw", "resetchannels"},
		words(lock.MinimalACL)...)...)
	s := open(t, strings.Replace(srv.URL(), "redis://", "redis://old:pw@", 1))
	req := locktest.RequestFor("job")
	req.History = 50
	l := locktest.Acquire(t, s, req)
	if n := refusals(t, srv); n > 1 {
		t.Errorf("the acquire was refused %d times", n)
	}
	locktest.Do(t, srv, "ACL", "LOG", "RESET")
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	if n := refusals(t, srv); n > 1 {
		t.Errorf("the release was refused %d times", n)
	}
}

func words(text string) (all []any) {
	for _, word := range strings.Fields(text) {
		all = append(all, word)
	}
	return all
}

// refusals is how often the ACL has refused something.
func refusals(t *testing.T, srv *redistest.Server) (n int64) {
	t.Helper()
	for _, entry := range locktest.Do(t, srv, "ACL", "LOG", 100).([]any) {
		fields := entry.([]any)
		for i := 0; i < len(fields); i += 2 {
			if fields[i] == "count" {
				n += fields[i+1].(int64)
			}
		}
	}
	return n
}

// Fifty runs take at most 6 KB a list, with names as long as those of the manual, and the
// rest of a job no more.
func TestTheLedgerOfAJobIsSmall(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	for i := range 60 {
		req := inSlot(0)
		req.Slot.Name = fmt.Sprintf("5m 2026-03-01T12:%02dZ", i)
		l := locktest.Acquire(t, s, req)
		end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 1, Attempts: 1}}
		locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	}
	for _, key := range []string{":runs", ":bad"} {
		all := 0
		for _, entry := range locktest.Do(t, srv, "LRANGE", jobKey+key, 0, -1).([]any) {
			all += len(entry.(string))
		}
		if t.Logf("%s: %d bytes, as kept %v", key, all,
			locktest.Do(t, srv, "MEMORY", "USAGE", jobKey+key)); all > 6<<10 {
			t.Errorf("%s takes %d bytes", key, all)
		}
	}
	for _, key := range []string{":job", ":slots"} {
		if bytes := locktest.Do(t, srv, "MEMORY", "USAGE", jobKey+key).(int64); bytes > 6<<10 {
			t.Errorf("%s takes %d bytes", key, bytes)
		}
	}
}

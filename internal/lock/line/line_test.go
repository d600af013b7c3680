package line_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/redistest"

	"github.com/redis/go-redis/v9"
)

// A steps runs the scripts one by one, for runs named by one letter.
type steps struct {
	t      *testing.T
	server *redistest.Server
	text   func(step string) string // as it is sent

	job           string // "": n
	slot          string // for which the runs are; one that is a word
	tries         int
	history       int
	ignoresPauses int // 1: a pause does not count
}

func newSteps(t *testing.T, args ...string) steps {
	return steps{t: t, server: redistest.Start(t, redistest.Options{Args: args}), text: stepsOf(t)}
}

// newLine is a server where one run has the lock, and others wait for it.
func newLine(t *testing.T, holder string, waiting ...string) steps {
	t.Helper()
	s := newSteps(t)
	s.code(s.once(holder), 1)
	s.join(waiting...)
	return s
}

func testID(run string) string     { return strings.Repeat(run, 26) }
func testRecord(run string) string { return `{"run":"` + testID(run) + `","v":1}` }

// begins reports whether a value is the record of a run, which the server has added to.
func begins(value any, run string) bool {
	text, _ := value.(string)
	return strings.HasPrefix(text, `{"run":"`+testID(run)+`",`)
}

func (s steps) do(words ...any) any {
	s.t.Helper()
	v, err := s.server.Do(words...)
	if err != nil {
		s.t.Fatalf("%v: %v", words[0], err)
	}
	return v
}

// ask makes a step.
func (s steps) ask(script, run string, args ...any) (any, error) {
	return s.server.Do(s.words(script, run, args...)...)
}

// words are those of a step. What a run says of itself stands before args.
func (s steps) words(script, run string, args ...any) []any {
	name := cmp.Or(s.job, "n")
	words := []any{"EVAL", script, wire.KeyCount}
	for _, key := range wire.KeysOf("", name, testID(run)).All() {
		words = append(words, key)
	}
	by := step.Asker{
		Run: testID(run), History: s.history, Words: "host-" + run + " user 1 cmd " + cmp.Or(s.slot, "-"), Slot: s.slot,
		Name: name, Names: "jobs",
	}
	return append(words, by.Args(args...)...)
}

func (s steps) eval(script, run string, args ...any) any {
	s.t.Helper()
	v, err := s.ask(script, run, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

const testTTL = 60000

func (s steps) once(run string) []any {
	s.t.Helper()
	return s.eval(s.text("acquire"), run, testRecord(run), testTTL, "once", 0, s.tries, s.ignoresPauses).([]any)
}

func (s steps) look(run string) []any { s.t.Helper(); return s.lookMax(run, 0) }

func (s steps) lookMax(run string, most int) []any {
	s.t.Helper()
	return s.eval(s.text("acquire"), run, testRecord(run), testTTL, "wait", most, s.tries, s.ignoresPauses).([]any)
}

func (s steps) confirm(run string) []any {
	s.t.Helper()
	return s.eval(s.text("confirm"), run, testTTL).([]any)
}

func (s steps) release(run string) any { s.t.Helper(); return s.keep(run, 0, 0) }

func (s steps) keep(run string, ms, mark int) any { s.t.Helper(); return s.end(run, ms, mark, "", 0) }

// end is a release that says how the run has ended.
func (s steps) end(run string, ms, mark int, how string, status int) any {
	s.t.Helper()
	return s.eval(s.text("release"), run, ms, mark, "1", how, status, "0", "1 5 6 7", 7).([]any)[0]
}

// listen subscribes a run to its own channel; the returned function is the next message.
func (s steps) listen(run string) (next func() string, stop func()) {
	s.t.Helper()
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.server.Socket(), Protocol: 2})
	p := c.Subscribe(context.Background(), "{n}:"+testID(run))
	if _, err := p.ReceiveTimeout(context.Background(), time.Minute); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return func() string {
			s.t.Helper()
			m, err := p.ReceiveTimeout(context.Background(), time.Minute)
			if err != nil {
				s.t.Fatal(err)
			}
			return m.(*redis.Message).Payload
		}, func() {
			p.Close()
			s.until(func() bool {
				return fmt.Sprint(s.do("PUBSUB", "NUMSUB", "{n}:"+testID(run)).([]any)[1]) == "0"
			})
		}
}

func (s steps) until(done func() bool) {
	s.t.Helper()
	if !redistest.Until(time.Minute, done) {
		s.t.Fatal("it did not happen within a minute")
	}
}

// join makes the runs wait in this order, each connected.
func (s steps) join(runs ...string) {
	s.t.Helper()
	for _, run := range runs {
		s.listen(run)
		if got := s.look(run); got[0] != int64(0) {
			s.t.Fatalf("%s joined: %v", run, got)
		}
	}
}

func (s steps) holder() string {
	s.t.Helper()
	v, _ := s.do("GET", "{n}").(string)
	if v == "" {
		return ""
	}
	return v[8:9]
}

func (s steps) waiting() string {
	s.t.Helper()
	var names strings.Builder
	for _, id := range s.do("ZRANGE", "{n}:queue", 0, -1).([]any) {
		names.WriteString(id.(string)[:1])
	}
	return names.String()
}

func (s steps) keys() []string {
	s.t.Helper()
	var keys []string
	for _, k := range s.do("KEYS", "*").([]any) {
		keys = append(keys, k.(string))
	}
	slices.Sort(keys)
	return keys
}

func (s steps) want(holder, waiting string) {
	s.t.Helper()
	if h, w := s.holder(), s.waiting(); h != holder || w != waiting {
		s.t.Fatalf("held by %q, in line %q; want %q, %q", h, w, holder, waiting)
	}
}

func (s steps) code(reply []any, want int64) []any {
	s.t.Helper()
	if reply[0] != want {
		s.t.Fatalf("reply %v, want %d", reply, want)
	}
	return reply
}

// age makes a waiter's last look ms older.
func (s steps) age(run string, ms int64) {
	s.t.Helper()
	entry := s.do("HGET", "{n}:waiters", testID(run)).(string)
	seen, record, _ := strings.Cut(entry, " ")
	var at int64
	fmt.Sscan(seen, &at)
	s.do("HSET", "{n}:waiters", testID(run), fmt.Sprint(at-ms, " ", record))
}

func TestReleaseHandsOverInOrderAndLeavesTheFenceAlone(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	fence := int64(0)
	grow := func(reply []any) {
		t.Helper()
		var f int64
		fmt.Sscan(fmt.Sprint(reply[1]), &f)
		if f <= fence {
			t.Fatalf("fence %d after %d", f, fence)
		}
		fence = f
	}
	grow(s.code(s.once("a"), 1))
	s.join("b", "c", "d")
	s.want("a", "bcd")
	for i, run := range []string{"a", "b", "c"} {
		if got := s.release(run); got != int64(wire.Own) {
			t.Fatalf("release %s: %v", run, got)
		}
		next := string("bcd"[i])
		s.want(next, "bcd"[i+1:])
		if ttl := s.do("PTTL", "{n}").(int64); ttl <= 0 || ttl > 2000 {
			t.Fatalf("unconfirmed for %d ms", ttl)
		}
		grow(s.code(s.confirm(next), 2))
		if ttl := s.do("PTTL", "{n}").(int64); ttl <= 2000 {
			t.Fatalf("confirmed for %d ms", ttl)
		}
	}
	s.release("d")
	if got := s.keys(); !slices.Equal(got, []string{"{n}:fence"}) {
		t.Fatalf("left: %v", got)
	}
}

func TestLookSaysPlaceHolderAndListeners(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	next, _ := s.listen("c")
	got := s.code(s.look("c"), 0)
	if !begins(got[2], "a") || got[3] != int64(2) || got[4] != int64(1) || got[5] != int64(1) {
		t.Errorf("joined: %v", got)
	}
	if m := next(); m != "p" {
		t.Errorf("message %q", m)
	}
	if got := s.look("c"); got[5] != int64(0) {
		t.Errorf("looked: %v", got)
	}
	if got := s.look("e"); got[4] != int64(0) || got[3] != int64(3) {
		t.Errorf("without a subscription: %v", got)
	}
}

func TestNewcomerDoesNotSlipPast(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	s.do("DEL", "{n}")
	if got := s.code(s.once("c"), 0); !begins(got[2], "b") {
		t.Errorf("busy with %v", got)
	}
	s.want("b", "")
}

func TestDisconnectedArePassedOverAndMayJoinAgain(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	_, stop := s.listen("b")
	s.look("b")
	s.join("d")
	stop()
	s.release("a")
	s.want("d", "")
	s.code(s.look("d"), 2)
	if got := s.look("b"); got[3] != int64(1) || got[5] != int64(1) {
		t.Errorf("joined again: %v", got)
	}
	s.want("d", "b")
}

// One that cannot be called is as one that is slow to confirm.
func TestLockIsKeptForAPollingWaiter(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	s.look("b") // not subscribed
	_, stop := s.listen("c")
	s.eval(s.text("acquire"), "c", testRecord("c"), testTTL, "poll", 0, 0, 0)
	s.join("d")
	stop()
	for _, run := range []string{"a", "b"} {
		s.release(run)
		next := string(run[0] + 1)
		s.want(next, "cd"[run[0]-'a':])
		if ttl := s.do("PTTL", "{n}").(int64); ttl <= 0 || ttl > 2000 {
			t.Errorf("kept for %s for %d ms", next, ttl)
		}
		s.code(s.confirm(next), 2)
	}
}

// Somebody who listens to everything makes nobody look alive.
func TestListenersToEverythingAreNotCounted(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.server.Socket()})
	defer c.Close()
	all := c.PSubscribe(t.Context(), "*")
	defer all.Close()
	if _, err := all.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.once("a")
	_, stop := s.listen("b")
	if got := s.look("b"); got[4] != int64(1) {
		t.Errorf("listeners: %v", got)
	}
	s.join("c")
	stop()
	if got := s.look("b"); got[4] != int64(0) {
		t.Errorf("listeners: %v", got)
	}
	_, stop = s.listen("b")
	s.look("b")
	stop()
	if got := s.lookMax("d", 2); got[0] != int64(0) {
		t.Errorf("the dead one counts: %v", got)
	}
	s.release("a")
	s.want("c", "d")
}

func TestHandOverTellsTheFirstThree(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	var next []func() string
	for _, run := range []string{"c", "d", "e"} {
		hear, _ := s.listen(run)
		s.look(run)
		next = append(next, hear)
	}
	s.release("a")
	for i, hear := range next {
		m := hear()
		for m == "p" {
			m = hear()
		}
		if m != fmt.Sprintf("n 2000 %d", i+1) {
			t.Errorf("message %q", m)
		}
	}
}

func TestALeaseShorterThanAHandOverIsAnnouncedWithIt(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	s.listen("b")
	record := `{"run":"` + testID("b") + `","v":1,"ttl":500}`
	s.eval(s.text("acquire"), "b", record, 500, "wait", 0, s.tries, s.ignoresPauses)
	next, _ := s.listen("c")
	s.look("c")
	s.release("a")
	for m := next(); m != "n 500 1"; m = next() {
		if m != "p" {
			t.Fatalf("told %q", m)
		}
	}
}

func TestWhoMovesUpToTheFrontIsToldWhenTheLeaseEnds(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c", "d")
	next, _ := s.listen("e")
	s.look("e") // the fourth: it does not look when the lease ends
	s.release("c")
	for m := next(); ; m = next() {
		var ms, place int64
		if n, _ := fmt.Sscanf(m, "n %d %d", &ms, &place); n == 2 {
			if place != 3 || ms <= 0 {
				t.Errorf("told %q", m)
			}
			return
		}
	}
}

func TestMaxWaitersWakesNobody(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	for i := range 50 {
		s.join(string(rune('A'+i%26)), string(rune('b'+i%24)))
		if i == 11 {
			break
		}
	}
	calls := func() (n int64) {
		stats := s.do("INFO", "commandstats").(string)
		if _, rest, ok := strings.Cut(stats, "cmdstat_publish:calls="); ok {
			fmt.Sscan(rest, &n)
		}
		return n
	}
	before := calls()
	s.code(s.lookMax("z", 20), 3)
	if n := calls() - before; n != 0 {
		t.Errorf("%d messages to find out that %d wait", n, 24)
	}
}

func TestSilentArePassedOver(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c", "d")
	s.age("b", 13000)
	s.age("c", 13000)
	if got := s.look("d"); got[3] != int64(3) {
		t.Errorf("as long as nobody is served they keep their places: %v", got)
	}
	s.release("a")
	s.want("d", "")
}

func TestWhoHasNotLookedForAnHourIsNoMore(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c", "d", "e")
	for _, run := range []string{"b", "c"} {
		s.age(run, time.Hour.Milliseconds()+1000)
	}
	if got := s.look("d"); got[3] != int64(1) {
		t.Errorf("place: %v", got)
	}
	s.want("a", "de")
}

func TestChosenInTheInstantItGivesUpHandsOn(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.release("a")
	s.want("b", "c")
	if got := s.release("b"); got != int64(wire.Own) {
		t.Errorf("release: %v", got)
	}
	s.want("c", "")
}

func TestLeavingChangesNothingElse(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c", "d")
	if got := s.release("c"); got != int64(wire.Others) {
		t.Errorf("release: %v", got)
	}
	s.want("a", "bd")
	s.release("b")
	s.release("d")
	s.release("a")
	if got := s.keys(); !slices.Equal(got, []string{"{n}:fence"}) {
		t.Fatalf("left: %v", got)
	}
}

func TestRepeatedReleaseChangesNothing(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.release("a")
	if got := s.release("a"); got != int64(wire.Others) {
		t.Errorf("second release: %v", got)
	}
	s.want("b", "c")
}

func TestUnconfirmedHandOverLapsesToTheNextInLine(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	next, _ := s.listen("c")
	s.look("c")
	s.release("a")
	for m := next(); m != "n 2000 1"; m = next() {
	}
	s.until(func() bool { return s.do("EXISTS", "{n}") == int64(0) }) // b died
	s.until(func() bool { return s.look("c")[0] == int64(1) })
	s.code(s.look("c"), 2)
	s.want("c", "")
}

func TestLookAfterItsOwnerLeft(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	s.keep("b", 0, 60000)
	s.code(s.look("b"), 4)
	s.want("a", "")
	s.release("a")
	s.code(s.look("b"), 4)
	s.want("", "")
}

func TestTheFirstThreeAreNotifiedOfAMinHold(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	next, _ := s.listen("b")
	s.look("b")
	if got := s.keep("a", 300, 0); got != int64(wire.Own) {
		t.Errorf("release: %v", got)
	}
	for m := next(); m != "n 300 1"; m = next() {
	}
	s.until(func() bool { return s.do("EXISTS", "{n}") == int64(0) })
	s.until(func() bool { return s.look("b")[0] == int64(1) })
}

func TestMaxWaitersCountsTheConnected(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	_, stop := s.listen("b")
	s.look("b")
	s.code(s.lookMax("c", 1), 3)
	s.want("a", "b")
	if got := s.code(s.lookMax("b", 1), 0); got[3] != int64(1) {
		t.Errorf("who waits already: %v", got)
	}
	stop()
	s.listen("c")
	s.code(s.lookMax("c", 1), 0)
	s.want("a", "bc")
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.do("CONFIG", "SET", "maxmemory", "1")
	if got := s.look("b"); got[3] != int64(1) {
		t.Errorf("look: %v", got)
	}
	other := s
	other.job = "m"
	_, err := other.ask(s.text("acquire"), "x", testRecord("x"), testTTL, "once", 0, 0, 0)
	if err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("acquire: %v", err)
	}
	s.release("a")
	s.want("b", "c")
	s.code(s.look("b"), 2)
	s.release("b")
	s.code(s.look("c"), 2)
	s.release("c")
	if got := s.keys(); !slices.Equal(got, []string{"{n}:fence"}) {
		t.Fatalf("left: %v", got)
	}
}

func TestAReleaseIntoACoolDownIsRepeatedWithoutMemory(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a")
	s.keep("a", 60000, 0)
	s.do("CONFIG", "SET", "maxmemory", "1")
	if got := s.keep("a", 60000, 60000); got != int64(wire.Own) {
		t.Errorf("repeated: %v", got)
	}
}

func TestLeaseThatEndsUnderOOMIsSucceeded(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b")
	s.look("b")
	s.do("CONFIG", "SET", "maxmemory", "1")
	s.do("PEXPIRE", "{n}", 1)
	s.until(func() bool { return s.look("b")[0] == int64(1) })
	s.code(s.look("b"), 2)
}

func TestEveryKeyExpiresTheFenceAfterNinetyDays(t *testing.T) {
	t.Parallel()
	s := newLine(t, "a", "b", "c")
	s.look("d")
	s.keep("c", 0, 60000)
	s.release("a")
	s.release("b")
	for _, key := range s.keys() {
		least, most := int64(0), time.Hour.Milliseconds()
		if key == "{n}:fence" {
			most = (90 * 24 * time.Hour).Milliseconds()
			least = most - time.Minute.Milliseconds()
		}
		if ttl := s.do("PTTL", key).(int64); ttl < least || ttl > most {
			t.Errorf("%s expires in %d ms", key, ttl)
		}
	}
}

func TestConfirmationOfALockThatIsNotOursChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.code(s.confirm("b"), 0)
	s.once("a")
	s.join("b", "c")
	s.code(s.confirm("b"), 0)
	s.want("a", "bc")
	s.keep("a", 60000, 0)
	s.code(s.confirm("a"), 0)
}

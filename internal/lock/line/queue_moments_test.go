package line_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// confirming is in the confirm step alone.
const confirming = "return confirm(held, ARGV[8])"

// Nobody knows what has become of a confirmation that had no answer: the next look says so, before the hand-over ends.
func TestAConfirmationThatHadNoAnswerIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, p *redistest.Proxy, free func()){
		"its reply is lost": func(t *testing.T, p *redistest.Proxy, free func()) { p.LoseReply(confirming); free() },
		"it does not arrive": func(t *testing.T, p *redistest.Proxy, free func()) {
			p.HoldNext(confirming)
			free()
			await(t, p, confirming, 1)
			p.Reset()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, s, held := holding(t)
			_, p, first, _ := waitsBehind(t, srv, 1)
			second, _ := park(t, srv, s, waits("job", lock.Forever), 2)
			looks := p.Count(anAcquire)
			lose(t, p, func() { release(t, held) })
			l := lease(t, first)
			if confirmed, looked := p.Count(confirming), p.Count(anAcquire)-looks; confirmed != 1 || looked != 1 {
				t.Errorf("%d confirmations, %d looks", confirmed, looked)
			}
			wantInLine(t, srv, 1)
			release(t, l)
			release(t, lease(t, second))
		})
	}
}

func TestPlaceIsKeptAcrossAReconnection(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	var reqs []lock.Request
	var queue []<-chan result
	for i := range 5 {
		req := waits("job", lock.Forever)
		done, _ := park(t, srv, s, req, int64(i+1))
		reqs, queue = append(reqs, req), append(queue, done)
	}
	for _, kind := range []string{"pubsub", "normal"} {
		locktest.Do(t, srv, "CLIENT", "KILL", "TYPE", kind)
	}
	locktest.Do(t, srv, "SCRIPT", "FLUSH")
	for _, req := range reqs {
		locktest.Until(t, "connected again", func() bool { return listeners(t, srv, req) == "1" })
	}
	serve(t, held, queue...)
}

func TestPassedOverWhileDisconnectedRejoinsAtTheEndAndSaysSo(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	p := redistest.NewProxy(t, srv)
	req := waits("job", lock.Forever)
	said := make(chan *lock.HeldError, 100)
	req.OnBusy = func(e *lock.HeldError) { said <- e }
	first, _ := park(t, srv, open(t, p.URL()), req, 1)
	second, _ := park(t, srv, s, waits("job", lock.Forever), 2)
	third, _ := park(t, srv, s, waits("job", lock.Forever), 3)
	p.Refuse(true)
	p.Reset()
	locktest.Until(t, "it is cut off", func() bool { return listeners(t, srv, req) == "0" })
	release(t, held)
	held = lease(t, second)
	p.Refuse(false)
	for e := range said {
		if e.Rejoined {
			if e.Position != 2 {
				t.Errorf("place %d", e.Position)
			}
			break
		}
	}
	release(t, held)
	release(t, lease(t, third))
	release(t, lease(t, first))
	onlyFenceAndMarks(t, srv)
}

func TestMinHoldIsHonouredInLine(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	done, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	const keep = time.Second
	ended := boottime.Now()
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: keep}))
	l := lease(t, done)
	if waited := boottime.Now().Sub(ended); waited < keep {
		t.Errorf("waited %s", waited)
	}
	if h := l.Held(); h > locktest.Patience {
		t.Errorf("held for %s already", h)
	}
}

func TestOutageInLineIsTriedAgainWithoutSpinning(t *testing.T) {
	t.Parallel()
	srv, _, held := holding(t)
	p := redistest.NewProxy(t, srv)
	req := waits("job", lock.Forever)
	failed := make(chan time.Time, 100)
	req.OnOutage = func(err error) {
		if !errors.As(err, new(*lock.UnavailableError)) {
			t.Errorf("outage %v", err)
		}
		failed <- time.Now()
	}
	done, _ := park(t, srv, open(t, p.URL()), req, 1)
	p.Refuse(true)
	p.Reset()
	var times []time.Time
	for len(times) < 7 {
		times = append(times, <-failed)
	}
	if took := times[6].Sub(times[0]); took < (50+100+200+400+800+800)*time.Millisecond/2 {
		t.Errorf("seven tries within %s", took)
	}
	p.Refuse(false)
	release(t, held)
	release(t, lease(t, done))
}

func TestLastAnswerTellsBusyFromOutage(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	srv, _, _ := holding(t)
	p := redistest.NewProxy(t, srv)
	_, err := open(t, p.URL()).Acquire(t.Context(), waits("job", time.Second))
	if !errors.As(err, new(*lock.HeldError)) {
		t.Errorf("answered: %v", err)
	}
	for name, fault := range map[string]func(){
		"refused": func() { p.Refuse(true); p.Reset() },
		"silent":  func() { p.Refuse(false); p.BlackHole(true) },
	} {
		p.BlackHole(false)
		p.Refuse(false)
		req := waits("job", 2*time.Second)
		req.OnBusy = func(e *lock.HeldError) {
			if e.Position > 0 {
				fault()
			}
		}
		if _, err := open(t, p.URL()).Acquire(t.Context(), req); !errors.As(err, new(*lock.UnavailableError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWaitingForAnEnclosingRunIsRefusedInLine(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	outer := locktest.RequestFor("job")
	locktest.Acquire(t, s, outer)
	req := waits("job", lock.Forever)
	req.Enclosing = []string{outer.Holder.Run}
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.NestedError)) {
		t.Errorf("got %v", err)
	}
	onlyLock := locktest.Do(t, srv, "KEYS", "*:queue").([]any)
	if len(onlyLock) != 0 {
		t.Errorf("left %v", onlyLock)
	}
}

func TestBrokenFenceEndsTheWait(t *testing.T) {
	t.Parallel()
	srv, s, held := holding(t)
	done, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	locktest.Do(t, srv, "SET", "redlockrun:{job}:fence", "many")
	release(t, held)
	if r := got(t, done); !errors.As(r.err, new(*lock.NotLockError)) {
		t.Errorf("got %v", r.err)
	}
}

// It needs the processor for itself: no others beside it.
func TestHandOverCostsTheSameHoweverManyWait(t *testing.T) {
	// The looks of those that stay parked come with time, not with hand-overs.
	cost := func(waiters int) int {
		srv, s, held := holding(t)
		var looks atomic.Int64
		var queue []<-chan result
		for i := range waiters {
			req := waits("job", lock.Forever)
			req.OnBusy = func(*lock.HeldError) { looks.Add(1) }
			done, _ := park(t, srv, s, req, int64(i+1))
			queue = append(queue, done)
		}
		var costs []int
		for _, done := range queue[:9] {
			before := evals(t, srv) - int(looks.Load())
			release(t, held)
			held = lease(t, done)
			costs = append(costs, evals(t, srv)-int(looks.Load())-before)
		}
		slices.Sort(costs)
		return costs[len(costs)/2]
	}
	if few, many := cost(10), cost(400); few != 2 || many != 2 {
		t.Errorf("commands for each hand-over: %d with 10 in line, %d with 400; "+
			"a release and a confirmation are 2", few, many)
	}
}

// calling are the rights without which waiters are not called, and look instead.
var calling = []string{"&redlockrun:*", "+publish", "+pubsub|numsub", "+subscribe"}

func TestWaitingRightsSuffice(t *testing.T) {
	t.Parallel()
	rights := redistest.Rules(strings.Fields(lock.WaitingACL))
	for skip := -1; skip < len(rights); skip++ {
		left := append([]string(nil), rights...)
		name := "all"
		if skip >= 0 {
			name = "without " + rights[skip]
			left = append(left[:skip], left[skip+1:]...)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := "alice on >pw " + lock.MinimalACL + " " + strings.Join(left, " ")
			srv := redistest.Start(t, redistest.Options{Users: []string{user}})
			s := open(t, strings.Replace(srv.URL(), "//", "//alice:pw@", 1))
			err := waitTwice(t, srv, s)
			if skip < 0 || slices.Contains(calling, rights[skip]) {
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
				return
			}
			var refusal *lock.Refusal
			e := locktest.MustBeUnavailable(t, err)
			if !e.Denied || !errors.As(err, &refusal) || "+"+strings.ToLower(refusal.Command) != rights[skip] {
				t.Errorf("refused as %v", err)
			}
		})
	}
}

// waitTwice lets two wait and be served, the second of at most two in line.
func waitTwice(t *testing.T, srv *redistest.Server, s lock.Store) error {
	held, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
	if err != nil {
		return err
	}
	var queue []<-chan result
	for i := range 2 {
		req := waits("job", lock.Forever)
		req.Wait.Max = 1 + i
		done, _ := begin(t, s, req)
		var early *result
		locktest.Until(t, "in line", func() bool {
			select {
			case r := <-done:
				early = &r
			default:
			}
			return early != nil || inLine(t, srv, "job") == int64(i+1)
		})
		if early != nil {
			return early.err
		}
		queue = append(queue, done)
	}
	for _, done := range queue {
		if err := held.Release(t.Context(), lock.ReleaseRequest{}); err != nil {
			return err
		}
		r := got(t, done)
		if r.err != nil {
			return r.err
		}
		held = r.lease
	}
	return held.Release(t.Context(), lock.ReleaseRequest{})
}

func TestParkedWaiterCostsOneCommandInFiveSeconds(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	srv, s, _ := holding(t)
	const waiters = 20
	parkMany(t, srv, s, waiters)
	before, began := evals(t, srv), time.Now()
	for each := range 3 {
		locktest.Until(t, "they have looked", func() bool { return evals(t, srv) >= before+(each+1)*waiters })
	}
	if took, least := time.Since(began), (3-1)*line.LookEvery; took < least {
		t.Errorf("three looks of each within %s", took)
	}
}

package quorum

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// long reports whether `make storm` asks for the full length of the storms.
func long() bool { return os.Getenv("REDLOCKRUN_STORM") == "long" }

// A target is a server of a storm, with all that can be done to it.
type target struct {
	*redistest.Server
	clock *redistest.Clock
	proxy *redistest.Proxy
}

// A blow is done to one server.
type blow struct {
	do func(*target) error

	// forgets says that the server has lost its lock by it, and gives it to the next
	// who asks: its clock has been set forward by more than a ttl.
	forgets bool
}

// Faults that strike and pass. After each the server is as good as before, but
// for what it has forgotten.
var storms = []struct {
	name         string
	strike, pass blow
}{
	{"frozen", blow{do: send(syscall.SIGSTOP)}, blow{do: send(syscall.SIGCONT)}},
	{"killed", blow{do: func(s *target) error { s.Kill(); return nil }}, blow{do: restart(true)}},
	{"cut off", blow{do: cutOff(true)}, blow{do: cutOff(false)}},
	{"ahead", blow{do: push(2 * stormTTL), forgets: true}, blow{do: push(0)}},
	{"unreachable", blow{do: func(s *target) error { s.proxy.Refuse(true); s.proxy.Reset(); return nil }},
		blow{do: func(s *target) error { s.proxy.Refuse(false); return nil }}},
	{"behind", blow{do: push(-2 * stormTTL)}, blow{do: push(0), forgets: true}},
	{"restarted empty", blow{do: restart(false)}, blow{do: func(*target) error { return nil }}},
}

func send(sig syscall.Signal) func(*target) error {
	return func(s *target) error { return s.Signal(sig) }
}

func restart(withData bool) func(*target) error {
	return func(s *target) error { return s.Restart(withData) }
}

func cutOff(on bool) func(*target) error {
	return func(s *target) error { s.proxy.BlackHole(on); return nil }
}

func push(ahead time.Duration) func(*target) error {
	return func(s *target) error { return s.clock.Push(ahead) }
}

const stormTTL = 1500 * time.Millisecond

// A storm is five servers and the votes that they are asked for.
type storm struct {
	all   []*target
	votes sync.RWMutex
}

func newStorm(t *testing.T) (*storm, lock.Store) {
	t.Helper()
	s := new(storm)
	var urls []string
	for range 5 {
		c := redistest.NewClock(t)
		one := &target{Server: redistest.Start(t, redistest.Options{Clock: c, Persist: true}), clock: c}
		one.proxy = redistest.NewProxy(t, one.Server)
		s.all, urls = append(s.all, one), append(urls, one.proxy.URL())
	}
	store := openAll(t, lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix, Settled: stormTTL}).(*quorum)
	open := store.open
	store.open = func(req lock.Request) (masters []master) {
		for _, m := range open(req) {
			masters = append(masters, &voter{m, &s.votes})
		}
		return masters
	}
	return s, store
}

// A voter is a master that is asked for its vote when it is let.
type voter struct {
	master
	votes *sync.RWMutex
}

func (v *voter) grant(ctx context.Context, b term, asked int64) (vote, error) {
	v.votes.RLock()
	defer v.votes.RUnlock()
	return v.master.grant(ctx, b, asked)
}

// Two of five servers at a time suffer, eight contend for the lock, and no two
// of them ever believe at once that they have it.
func TestQuorumStorm(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s, store := newStorm(t)
	h := newHistory()
	ctx, end := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer end()
	for i := range 8 {
		clients.Go(func() {
			for ctx.Err() == nil {
				contend(ctx, store, h, i)
			}
		})
	}
	s.rage(t)
	locktest.Until(t, "the lock has been held eight times", func() bool { return h.held() >= 8 })
	end()
	clients.Wait()
	h.check(t)
	for _, one := range s.all {
		locktest.Until(t, "nothing is left", func() bool { return len(keysLeft(t, one.Server)) == 0 })
	}
}

// rage lets each kind of fault strike two servers, and then, in a long storm,
// any kind for a minute.
func (s *storm) rage(t *testing.T) {
	began := time.Now()
	for n := 0; n < len(storms) || long() && time.Since(began) < time.Minute; n++ {
		fault := storms[n%len(storms)]
		if n >= len(storms) {
			fault = storms[rand.N(len(storms))]
		}
		first := rand.N(len(s.all))
		two := []*target{s.all[first], s.all[(first+1+rand.N(len(s.all)-1))%len(s.all)]}
		rest(t, stormTTL+stormTTL/2)
		s.deal(t, fault.name, fault.strike, two)
		rest(t, stormTTL/2)
		s.deal(t, fault.name, fault.pass, two)
		for _, one := range two {
			locktest.Must(t, one.Wait())
		}
	}
}

// deal lets two servers suffer. A blow by which they forget waits until all five
// have the lock, and comes before anybody votes again: a lock that two of five forget
// is outlived if all had it, and another can get it if a third had not. That is
// how it is for a moment when it has just been taken, and until what somebody else
// took in vain has been given back (TestL9AQuorumOutlivesClocksThatAreSetForward).
// Everything else may come at any time.
func (s *storm) deal(t *testing.T, name string, b blow, two []*target) {
	if b.forgets {
		s.votes.Lock()
		defer s.votes.Unlock()
		s.waitForWhole(t)
	}
	for _, one := range two {
		if err := b.do(one); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// waitForWhole returns when all servers have one run's lock. It is called, and
// returns, while no vote is under way; in between those who contend may vote.
func (s *storm) waitForWhole(t *testing.T) {
	locktest.Until(t, "all servers have the lock of one run", func() bool {
		if s.whole(t) {
			return true
		}
		s.votes.Unlock()
		rest(t, time.Millisecond)
		s.votes.Lock()
		return false
	})
}

func (s *storm) whole(t *testing.T) bool {
	owners := make(map[string]bool)
	for _, one := range s.all {
		value, _ := locktest.Do(t, one.Server, "GET", locktest.LockKey("job")).(string)
		owners[value[:min(len(value), len(`{"run":"`)+lock.RunIDLen)]] = true
	}
	return len(owners) == 1 && !owners[""]
}

// rest lets the storm go on for d: it is the length of the experiment, and
// nothing is waited for.
func rest(t *testing.T, d time.Duration) { lock.Pause(t.Context(), d) }

// contend wants the lock once, and if it gets it, runs for a while under it.
func contend(ctx context.Context, store lock.Store, h *history, client int) {
	req := locktest.RequestFor("job")
	req.Times, req.Timeout = lock.TimesOf(stormTTL), time.Second
	if rand.N(2) == 0 {
		req.Wait.Limit = 2 * stormTTL
	}
	ttl := req.Times.TTL - req.Times.Drift
	call := lockCall{what: "acquire", run: req.Holder.Run, ttl: ttl, at: h.now()}
	l, err := store.Acquire(ctx, req)
	switch {
	case err == nil:
		h.add(client, call, "ok", l.Fence())
		run(l, req, h, client)
	case errors.As(err, new(*lock.HeldError)):
		h.add(client, call, "no", 0)
		lock.Pause(ctx, rand.N(50*time.Millisecond))
	default:
		h.add(client, call, "unknown", 0)
		lock.Pause(ctx, rand.N(200*time.Millisecond))
	}
}

// run is a job under the lock, with a watchdog of its own.
func run(l lock.Lease, req lock.Request, h *history, client int) {
	c := claim{run: req.Holder.Run, fence: l.Fence(), from: h.now()}
	stop := time.Now().Add(rand.N(stormTTL / 8)) // most jobs are short, some outlast the ttl
	if rand.N(4) == 0 {
		stop = stop.Add(rand.N(2 * stormTTL))
	}
	for time.Now().Before(stop) && h.now() < l.Until().Sub(h.began) {
		if !lock.Pause(context.Background(), min(time.Until(stop), req.Draw.Jitter(req.Times.Renew))) || !renewOnce(l, req, h, client) {
			break
		}
	}
	c.to = min(h.now(), l.Until().Sub(h.began))
	call := lockCall{what: "release", run: req.Holder.Run, at: h.now()}
	h.claim(c)
	err := l.Release(context.Background(), lock.Farewell{})
	h.add(client, call, outcomeOf(err), 0)
}

// renewOnce returns false if the lock is lost.
func renewOnce(l lock.Lease, req lock.Request, h *history, client int) bool {
	if !time.Now().Before(l.Until()) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), req.Times.Try)
	defer cancel()
	call := lockCall{what: "renew", run: req.Holder.Run, ttl: req.Times.TTL - req.Times.Drift, at: h.now()}
	_, err := l.Renew(ctx)
	h.add(client, call, outcomeOf(err), 0)
	return !errors.Is(err, lock.ErrLost)
}

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, lock.ErrLost):
		return "no"
	}
	return "unknown"
}

// It needs the processor for itself: no others beside it.
func TestQ5RealTicksGiveOneRunEach(t *testing.T) {
	ability.Slow(t)
	ticks := 10
	if long() {
		ticks = 200
	}
	store := startServers(t, 5, redistest.Options{}).open(t)
	for tick := range ticks {
		if runs, refusals := tick20(t, store, 5*time.Millisecond); runs != 1 || refusals != 19 {
			t.Errorf("tick %d: %d runs, %d refusals", tick, runs, refusals)
		}
	}
}

// It needs the processor for itself: no others beside it.
func TestTwentyContendersAllGetThrough(t *testing.T) {
	rounds := 5
	if long() {
		rounds = 200
	}
	all := startServers(t, 5, redistest.Options{})
	store := all.open(t)
	var mu sync.Mutex
	var worst time.Duration
	holders, most := 0, 0
	var contenders sync.WaitGroup
	for range 20 {
		contenders.Go(func() {
			for range rounds {
				req := locktest.RequestFor("job")
				req.Wait.Limit = lock.Forever
				began := time.Now()
				l, err := store.Acquire(context.Background(), req)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				worst = max(worst, time.Since(began))
				holders++
				most = max(most, holders)
				mu.Unlock()
				mu.Lock()
				holders--
				mu.Unlock()
				if err := l.Release(context.Background(), lock.Farewell{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	contenders.Wait()
	if most != 1 {
		t.Errorf("%d at once", most)
	}
	t.Logf("20 contenders, %d rounds each: the worst wait was %s", rounds, worst)
	all.mustBeClean(t)
}

// Each server in turn is killed and comes back without its data; the lock that
// was there before is there still, and its fence.
func TestQ4LockOutlivesARollingRestart(t *testing.T) {
	t.Parallel()
	all := startServers(t, 5, redistest.Options{})
	store := all.open(t)
	req := locktest.RequestFor("job")
	l := acquireWhole(t, store, req)
	for i, s := range all {
		locktest.Must(t, s.Restart(false))
		_, err := l.Renew(locktest.Limited(t, locktest.Patience))
		locktest.Must(t, err)
		renewUntilWhole(t, l)
		if n := all.held(t, req.Holder.Run); n != 5 {
			t.Errorf("after %d restarts %d servers have the lock", i+1, n)
		}
		if _, err := store.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, new(*lock.HeldError)) {
			t.Errorf("after %d restarts another is told %v", i+1, err)
		}
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.Farewell{}))
	all.mustBeClean(t)
	next := openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true}) // they have just been restarted
	second := locktest.Acquire(t, next, locktest.RequestFor("job"))
	if second.Fence() <= l.Fence() {
		t.Errorf("fence %d after %d", second.Fence(), l.Fence())
	}
	locktest.Must(t, second.Release(locktest.Limited(t, locktest.Patience), lock.Farewell{}))
}

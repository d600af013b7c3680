package permits_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/local"
	"redlockrun/internal/lock/permits"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
	"redlockrun/internal/watchdog"
)

// Many clients contend for the permits of one name, while processes die, connections are cut, replies are lost, the
// server stands still and gates are lost. The kernel counts who has a permit. REDLOCKRUN_TEST_STORM says how many runs
// the clients try.
func TestAtMostSoManyRunsAtATimeInAStorm(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for round, runs := 0, stormRuns(t, 40); runs > 0; round, runs = round+1, runs-stormRound {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			t.Parallel()
			newRedisStorm(t).blow(min(runs, stormRound))
		})
	}
}

func TestAtMostSoManyRunsAtATimeInAStormWithFiles(t *testing.T) {
	t.Parallel()
	for round, runs := 0, stormRuns(t, 40); runs > 0; round, runs = round+1, runs-stormRound {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			t.Parallel()
			newLocalStorm(t).blow(min(runs, stormRound))
		})
	}
}

const (
	stormRound   = 250
	stormClients = 16
	stormName    = "storm"
)

// stormRuns returns how many runs are wanted.
func stormRuns(t *testing.T, few int) int {
	if n, err := strconv.Atoi(os.Getenv("REDLOCKRUN_TEST_STORM")); err == nil {
		return n
	}
	return few
}

// A storm is what happens to the permits of one name.
type storm struct {
	t       *testing.T
	draw    func(int) int
	of      int
	times   lock.Times
	open    func() lock.Store
	crash   func(lock.Store, lock.Lease) // as the kernel does when a process is killed
	harm    func(ctx context.Context)    // one fault, which has ended when it returns
	left    func() string                // what is left of the permits; "" if nothing
	writers bool

	dir     string
	inside  atomic.Int64
	highest atomic.Int64
	tried   atomic.Int64
	counts  sync.Map // what became of runs: *atomic.Int64
}

func (s *storm) count(what string) {
	n, _ := s.counts.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// blow lets the clients try so many runs, and then looks what is left.
func (s *storm) blow(runs int) {
	s.dir = s.t.TempDir()
	calm, cancel := context.WithCancel(context.Background())
	var weather, clients sync.WaitGroup
	weather.Go(func() {
		for calm.Err() == nil {
			s.harm(calm)
		}
	})
	began := time.Now()
	for range stormClients {
		clients.Go(func() {
			for s.tried.Add(1) <= int64(runs) && !s.t.Failed() {
				s.try()
			}
		})
	}
	over := make(chan struct{})
	go func() { clients.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(10 * time.Minute):
		s.t.Error("the clients block each other")
	}
	cancel()
	weather.Wait()
	locktest.Until(s.t, "all permits are free", func() bool { return s.left() == "" })
	var said []string
	s.counts.Range(func(what, n any) bool {
		said = append(said, fmt.Sprint(what, " ", n.(*atomic.Int64).Load()))
		return true
	})
	s.t.Logf("%d permits, at most %d at a time, in %s: %s", s.of, s.highest.Load(),
		time.Since(began).Round(time.Millisecond), strings.Join(said, ", "))
}

// claim is what a run wants. Some say another number of permits, but none a larger one.
func (s *storm) claim() permits.Claim {
	of := s.of
	if s.draw(8) == 0 {
		of = 1 + s.draw(s.of)
	}
	c := permits.Claim{Of: of, Take: 1}
	switch n := s.draw(10); {
	case n == 0 && s.writers:
		c.All = true
	case n < 4:
		c.Take = 1 + s.draw(of)
	}
	return c
}

// try is one run, from its first question to its end.
func (s *storm) try() {
	base := s.open()
	defer base.Close()
	claim := s.claim()
	store := permits.New(base, claim)
	req := locktest.RequestFor(stormName)
	req.Times, req.Timeout = s.times, time.Second
	req.Wait = []lock.Wait{{}, {Limit: s.after(500)}, {Limit: 20 * time.Second}, {Retries: 3}}[s.draw(4)]
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	errSignal := errors.New("signal")
	switch s.draw(12) {
	case 0:
		defer time.AfterFunc(s.after(200), func() { cancel(errSignal) }).Stop()
	case 1:
		defer time.AfterFunc(s.after(200), func() { s.crash(base, nil) }).Stop()
	}
	lease, err := store.Acquire(ctx, req)
	if err != nil {
		s.count(s.kind(err, errSignal))
		return
	}
	s.run(base, lease.(permits.Lease), claim)
}

func (s *storm) after(ms int) time.Duration { return time.Duration(s.draw(ms)) * time.Millisecond }

// kind is what an error of Acquire is.
func (s *storm) kind(err, signal error) string {
	switch {
	case errors.Is(err, signal):
		return "signalled"
	case errors.As(err, new(*lock.HeldError)):
		return "busy"
	case errors.As(err, new(*lock.UnavailableError)):
		return "unavailable"
	}
	s.t.Errorf("acquire: %v", err)
	return "other"
}

// run is what a session does with a lease: the command lives until it ends, the lease is lost, or its process dies.
func (s *storm) run(base lock.Store, l permits.Lease, claim permits.Claim) {
	lost := make(chan struct{})
	cfg := watchdog.Config{Times: s.times, Timeout: time.Second, Cancel: func(error) { close(lost) }}
	ctx := locktest.Limited(s.t, locktest.Patience)
	if err := watchdog.Freshen(ctx, l, cfg); err != nil {
		s.count("unfresh")
		l.Release(ctx, lock.ReleaseRequest{})
		return
	}
	if boottime.Until(s.times.Kill(l.Until())) <= 0 {
		s.count("late")
		l.Release(ctx, lock.ReleaseRequest{})
		return
	}
	leave := s.enter(l, claim)
	k := watchdog.New(l, cfg)
	k.Start()
	dies, length := s.draw(12) == 0, s.after(60)
	if s.draw(8) == 0 {
		length = s.after(3000) // some outlive their lease
	}
	select {
	case <-time.After(length):
	case <-lost:
		s.count("lost")
	}
	leave()
	k.Stop()
	if dies {
		s.count("killed")
		s.crash(base, l)
		return
	}
	s.count("ended")
	l.Release(locktest.Limited(s.t, 2*time.Second), lock.ReleaseRequest{})
}

// enter takes the kernel's lock of each permit that the run has: nobody else may have it.
func (s *storm) enter(l permits.Lease, claim permits.Claim) (leave func()) {
	numbers := l.Permits()
	if claim.All {
		if numbers = nil; l.Fence() == 0 {
			s.t.Error("a run that is alone has no fence")
		}
		for n := range s.of {
			numbers = append(numbers, n+1)
		}
	} else if len(numbers) != claim.Take || numbers[len(numbers)-1] > claim.Of || l.Fence() != 0 {
		s.t.Errorf("of %+v it got %v, with fence %d", claim, numbers, l.Fence())
	}
	var files []*os.File
	for _, n := range numbers {
		f, err := os.OpenFile(filepath.Join(s.dir, strconv.Itoa(n)), os.O_CREATE|os.O_RDWR, 0o600)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		}
		if err != nil {
			s.t.Errorf("permit %d of %v: another run has it: %v", n, numbers, err)
		}
		files = append(files, f)
	}
	now := s.inside.Add(int64(len(numbers)))
	for high := s.highest.Load(); now > high && !s.highest.CompareAndSwap(high, now); high = s.highest.Load() {
	}
	if now > int64(s.of) {
		s.t.Errorf("%d permits are held of %d", now, s.of)
	}
	return func() {
		s.inside.Add(-int64(len(numbers)))
		for _, f := range files {
			f.Close()
		}
	}
}

func newStorm(t *testing.T) *storm {
	draw := locktest.Draw(t)
	return &storm{t: t, draw: draw, of: 2 + draw(7), times: lock.TimesOf(2 * time.Second), writers: draw(3) > 0}
}

// newRedisStorm has one server behind proxies that can do harm.
func newRedisStorm(t *testing.T) *storm {
	s, srv := newStorm(t), redistest.Start(t, redistest.Options{})
	var proxies []*redistest.Proxy
	for range 3 {
		proxies = append(proxies, redistest.NewProxy(t, srv))
	}
	s.open = func() lock.Store {
		store, err := line.Open(lock.Servers{URLs: []string{proxies[s.draw(3)].URL()}, Prefix: lock.DefaultPrefix})
		if err != nil {
			s.t.Fatal(err)
		}
		return store
	}
	s.crash = func(store lock.Store, _ lock.Lease) { store.Close() }
	s.harm = func(ctx context.Context) { s.harmRedis(ctx, srv, proxies[s.draw(3)]) }
	s.left = func() string { return leftAt(t, srv) }
	return s
}

// leftAt returns the keys of permits and gates that are left, but for fences and tombstones.
func leftAt(t *testing.T, srv *redistest.Server) string {
	var left []string
	for _, key := range locktest.Do(t, srv, "KEYS", "*").([]any) {
		if !strings.HasSuffix(key.(string), ":fence") && !strings.Contains(key.(string), ":gone:") {
			left = append(left, key.(string))
		}
	}
	return strings.Join(left, " ")
}

// harmRedis does one thing to the server, or to what is between it and some clients.
func (s *storm) harmRedis(ctx context.Context, srv *redistest.Server, p *redistest.Proxy) {
	lock.Sleep(ctx, s.after(300))
	switch s.draw(9) {
	case 0, 1:
		p.Reset()
	case 2:
		p.LoseReply("GETRANGE")
	case 3:
		p.LoseReply(lock.GateOf(stormName))
	case 4:
		release := p.HoldNext("GETRANGE")
		lock.Sleep(ctx, s.after(3000))
		release()
	case 5:
		p.BlackHole(true)
		lock.Sleep(ctx, s.after(3000)) // some gates and leases are lost
		p.BlackHole(false)
	case 6:
		srv.Signal(syscall.SIGSTOP)
		lock.Sleep(ctx, s.after(800))
		srv.Signal(syscall.SIGCONT)
	case 7:
		srv.Do("CLIENT", "PAUSE", strconv.Itoa(s.draw(600)))
	case 8:
		if !s.writers { // without its gate a writer cannot see who comes: that is not promised
			srv.Do("DEL", "redlockrun:{"+stormName+"}/gate")
		}
	}
}

// newLocalStorm has the files of a directory.
func newLocalStorm(t *testing.T) *storm {
	s, dir := newStorm(t), t.TempDir()
	s.open = func() lock.Store {
		store, err := local.Open(dir)
		if err != nil {
			s.t.Fatal(err)
		}
		return store
	}
	s.crash = func(_ lock.Store, l lock.Lease) {
		if l, ok := l.(permits.Lease); ok {
			for _, part := range l.Parts() {
				part.(interface{ File() *os.File }).File().Close()
			}
		}
	}
	s.harm = func(ctx context.Context) { lock.Sleep(ctx, time.Second) }
	s.left = func() string {
		store := permits.New(s.open(), permits.Claim{Of: 2, All: true})
		defer store.Close()
		l, err := store.Acquire(t.Context(), locktest.RequestFor(stormName))
		if err != nil {
			return err.Error()
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
		return ""
	}
	return s
}

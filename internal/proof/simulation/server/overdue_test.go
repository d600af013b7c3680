package server_test

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/quorum"
	"redlockrun/internal/proof/locktest"
)

// An expectation is a model of what is expected of one job, told of what happens to it.
type expectation struct {
	known          bool          // some run has said how old the last success may become
	age            time.Duration // 0: nothing is expected
	since, success time.Time
	pauses         []lock.PauseSpan
}

// says has a run that began then say how old the last success may become.
func (e *expectation) says(age lock.MaxAge, began time.Time) {
	if !age.Set {
		return
	}
	if e.age == 0 {
		e.since = began
	}
	e.known, e.age = true, age.Limit
}

// paused reports whether the job is paused.
func (e *expectation) paused(now time.Time) bool {
	return slices.ContainsFunc(e.pauses,
		func(p lock.PauseSpan) bool { return !now.Before(p.Since) && now.Before(p.Until) })
}

// unpaused is how much time has passed since the last success, or since one is expected, in which it was not paused.
func (e *expectation) unpaused(now time.Time) time.Duration {
	from := e.success
	if e.since.After(from) {
		from = e.since
	}
	passed := now.Sub(from)
	for _, p := range e.pauses {
		begin, end := p.Since, p.Until
		if begin.Before(from) {
			begin = from
		}
		if end.After(now) {
			end = now
		}
		passed -= max(0, end.Sub(begin))
	}
	return passed
}

// A year is one job for that long, by real clients of modelled servers in virtual time.
type year struct {
	t        *testing.T
	draw     *rand.Rand
	on       []*served
	store    lock.Store
	operator lock.Operator
	jobs     lock.Inspector
	quorum   bool
	away     bool // the last master
	expectation
	seen map[string]int
}

func (y *year) oneIn(n int) bool { return y.draw.IntN(n) == 0 }

func (y *year) between(a, b time.Duration) time.Duration {
	return a + time.Duration(y.draw.Int64N(int64(b-a)))
}

// tick is what becomes of one tick: nobody starts, or a run succeeds, fails or dies without a word.
func (y *year) tick() {
	if y.oneIn(8) {
		y.seen["missed"]++
		return
	}
	req := entered("job")
	switch n := y.draw.IntN(12); {
	case n == 0:
		req.MaxAge = lock.MaxAge{Set: true}
	case n < 8:
		req.MaxAge = lock.MaxAge{Set: true,
			Limit: []time.Duration{7 * time.Hour, 26 * time.Hour, 300 * time.Hour}[y.draw.IntN(3)]}
	}
	began := time.Now()
	held, err := y.store.Acquire(y.t.Context(), req)
	if err != nil {
		if !y.paused(time.Now()) {
			y.t.Fatal(err)
		}
		y.seen["refused"]++
		return
	}
	time.Sleep(y.between(time.Second, 30*time.Second))
	switch {
	case y.oneIn(10): // it is not released
		if !y.quorum || !y.known && req.MaxAge.Limit > 0 {
			y.says(req.MaxAge, began)
		}
		time.Sleep(2 * time.Minute)
		y.seen["vanished"]++
	case y.oneIn(3):
		y.says(req.MaxAge, began)
		locktest.Must(y.t, held.Release(locktest.Limited(y.t, locktest.Patience), bad()))
		y.seen["failed"]++
	default:
		y.says(req.MaxAge, began)
		locktest.Must(y.t, held.Release(locktest.Limited(y.t, locktest.Patience), good()))
		y.success = time.Now()
		y.seen["ok"]++
	}
}

// pause pauses the job, and now and then ends that before its time.
func (y *year) pause() {
	if y.paused(time.Now()) {
		return
	}
	c := locktest.ChangeFor(lock.ActPause)
	c.For = y.between(time.Minute, 30*time.Hour)
	_, err := y.operator.Change(y.t.Context(), "job", c)
	locktest.Must(y.t, err)
	p := lock.PauseSpan{Since: time.Now(), Until: time.Now().Add(c.For)}
	if y.oneIn(2) {
		time.Sleep(c.For / 3)
		_, err = y.operator.Change(y.t.Context(), "job", locktest.ChangeFor(lock.ActResume))
		locktest.Must(y.t, err)
		p.Until = time.Now()
	}
	y.pauses = append(y.pauses, p)
	y.seen["pause"]++
}

func (y *year) forget() {
	for _, s := range y.on {
		s.empty()
	}
	y.expectation = expectation{}
	y.seen["data lost"]++
}

// look compares what a reader learns with the model. What is within a second of the deadline is left open.
func (y *year) look() {
	job, err := y.jobs.Job(y.t.Context(), "job")
	locktest.Must(y.t, err)
	now := time.Now()
	if job.MaxAge != y.age {
		y.t.Fatalf("%v: the limit is %v, want %v", now, job.MaxAge, y.age)
	}
	want := false
	if y.age > 0 && !y.paused(now) {
		over := y.unpaused(now) - y.age
		if over.Abs() < time.Second {
			return
		}
		want = over > 0
	}
	if got := job.Overdue(); got != want {
		due, known := job.Due()
		y.t.Fatalf("%v: overdue %v, want %v; due %v, %v; %+v; %+v", now, got, want, due, known, y.expectation, job)
	}
	y.seen[map[bool]string{false: "in time", true: "overdue"}[want]]++
}

func (y *year) live(ticks int) {
	for range ticks {
		if y.quorum {
			y.away = y.oneIn(4)
		}
		y.tick()
		y.look()
		time.Sleep(y.between(time.Minute, 2*time.Hour))
		if y.oneIn(6) {
			y.pause()
			y.look()
		}
		if y.oneIn(150) {
			y.away = false
			y.forget()
		}
		time.Sleep(y.between(time.Minute, 9*time.Hour))
		y.look()
	}
}

// TestAYearOfTicksIsOverdueWhenAModelSaysSo holds what readers say against a model: with pauses, other limits, runs
// that
// are missed, fail or vanish, and with data that is lost.
func TestAYearOfTicksIsOverdueWhenAModelSaysSo(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*year){
		"one server": func(y *year) {
			s := serve(y.t, nil)
			y.on, y.store = []*served{s}, opened(y.t, s)
			y.operator = made(y.t, line.OpenOperator, s.servers())
			y.jobs = made(y.t, line.OpenInspector, s.servers())
		},
		"quorum": func(y *year) {
			on, cfg := masters(func() *served { return serve(y.t, nil) })
			y.quorum, y.on = true, on
			dial := cfg.Dial
			cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if y.away && addr == "m2:1" {
					return nil, syscall.ECONNREFUSED
				}
				return dial(ctx, network, addr)
			}
			store, err := quorum.Open(cfg)
			locktest.Must(y.t, err)
			y.t.Cleanup(func() { store.Close() })
			y.store = store
			y.operator, y.jobs = made(y.t, quorum.OpenOperator, cfg), made(y.t, quorum.OpenInspector, cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				y := &year{t: t, draw: rand.New(rand.NewPCG(29, 1)), seen: map[string]int{}}
				of(y)
				begun := time.Now()
				if testing.Short() {
					y.live(200)
					return
				}
				y.live(1600)
				if passed := time.Since(begun); passed < 365*24*time.Hour {
					t.Errorf("only %v have passed", passed)
				}
				for _, what := range []string{
					"ok", "failed", "missed", "vanished", "refused", "pause", "data lost", "in time", "overdue",
				} {
					if y.seen[what] < 5 {
						t.Errorf("%s: only %d times", what, y.seen[what])
					}
				}
				t.Log(y.seen)
			})
		})
	}
}

// made is what open makes of the servers.
func made[T any](t *testing.T, open func(lock.Servers, lock.Inspection) (T, error), cfg lock.Servers) T {
	t.Helper()
	it, err := open(cfg, lock.Inspection{})
	locktest.Must(t, err)
	return it
}

package quorum

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
)

// way is how far a simulated server is away; trip a round trip to it.
const (
	way  = 5 * time.Millisecond
	trip = 2 * way
)

// inTime fails if a step took longer than limit of virtual time.
func inTime(t *testing.T, what string, began time.Time, limit time.Duration) {
	t.Helper()
	if took := time.Since(began); took > limit+time.Millisecond {
		t.Errorf("%s took %s, want at most %s", what, took, limit)
	}
}

// nothingOf fails if a server has a key of run, once what was frozen has been thawed.
func nothingOf(t *testing.T, run string, servers []*simServer) {
	t.Helper()
	for _, s := range servers {
		if s.holder() == run {
			t.Errorf("%s still has a key", s.name)
		}
	}
}

func TestAFrozenMinorityAddsAtMostOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, way)
		servers[0].freeze()
		servers[3].freeze()
		req := locktest.RequestFor("job")
		began := time.Now()
		l := locktest.Acquire(t, q, req)
		inTime(t, "acquire", began, 2*trip)
		began = time.Now()
		if err := l.Release(t.Context(), lock.ReleaseRequest{}); err != nil {
			t.Error(err)
		}
		inTime(t, "release", began, 2*trip)
		servers[0].thaw()
		servers[3].thaw()
		synctest.Wait()
		nothingOf(t, req.Holder.Run, servers)
	})
}

func TestAHealthyQuorumIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, way)
		began := time.Now()
		l := locktest.Acquire(t, q, locktest.RequestFor("job"))
		inTime(t, "acquire", began, trip)
		if err := l.Release(t.Context(), lock.ReleaseRequest{}); err != nil {
			t.Error(err)
		}
		inTime(t, "both", began, 2*trip)
		for _, s := range servers {
			if n := s.asked(); n != 2 {
				t.Errorf("%s was asked %d times, want 2", s.name, n)
			}
		}
	})
}

func TestALeaseCountsFromBeforeTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newSim(t, 3, 400*time.Millisecond)
		req := locktest.RequestFor("job")
		latest := boottime.Now().Add(req.Times.TTL - req.Times.Drift + time.Millisecond)
		l := locktest.Acquire(t, q, req)
		if l.Until().After(latest) {
			t.Errorf("acquired until %s after the latest end", l.Until().Sub(latest))
		}
		latest = boottime.Now().Add(req.Times.TTL - req.Times.Drift + time.Millisecond)
		until, err := l.Renew(locktest.Limited(t, 2*time.Second))
		if err != nil || until.After(latest) {
			t.Errorf("renewed until %s after the latest end, %v", until.Sub(latest), err)
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

func TestALeaseOfAQuorumRunsOutWhileTheMachineSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newSim(t, 5, way)
		locktest.CountsASleep(t, q)
	})
}

func TestASlowRoundIsRenewedBeforeItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, 1100*time.Millisecond) // one try is 2 s
		req := locktest.RequestFor("job")
		_, err := q.Acquire(t.Context(), req)
		if err == nil {
			t.Error("a lock was taken whose renewals take longer than a try")
		}
		time.Sleep(time.Minute)
		nothingOf(t, req.Holder.Run, servers)
	})
}

func TestBusyQuorumNamesTheHolderAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, way)
		first := locktest.RequestFor("job")
		locktest.Acquire(t, q, first)
		servers[4].freeze()
		second := locktest.RequestFor("job")
		began := time.Now()
		_, err := q.Acquire(t.Context(), second)
		inTime(t, "refusal", began, 2*trip+500*time.Millisecond) // for giving up at the frozen one
		var held *lock.HeldError
		if !errors.As(err, &held) || held.Holder.Run != first.Holder.Run || held.TTL <= 0 {
			t.Errorf("got %v", err)
		}
		servers[4].thaw()
		nothingOf(t, second.Holder.Run, servers)
	})
}

func TestMajorityBusyForDifferentHoldersCountsAsBusyAfterThreeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, way)
		for i, s := range servers[:3] {
			s.grab(fmt.Sprint("other", i), time.Hour)
		}
		began := time.Now()
		req := locktest.RequestFor("job")
		_, err := q.Acquire(t.Context(), req)
		if took := time.Since(began); !errors.As(err, new(*lock.HeldError)) || took < contention ||
			took > contention+time.Second {
			t.Errorf("%v after %s", err, took)
		}
		nothingOf(t, req.Holder.Run, servers)
	})
}

func TestVotesOfDifferentRoundsAreNoMajority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		for i, s := range servers {
			s.grab("other", time.Second)
			s.term.round = uint32(i)
		}
		l := locktest.Acquire(t, q, locktest.RequestFor("job")) // once the three have lapsed
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

func TestNoMajorityReachableIsAnOutage(t *testing.T) {
	for _, size := range []int{3, 4, 5} {
		for _, kind := range []string{"down", "frozen", "denied"} {
			t.Run(fmt.Sprint(size, " ", kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testOutage(t, size, kind) })
			})
		}
	}
}

func testOutage(t *testing.T, size int, kind string) {
	q, servers := newSim(t, size, way)
	servers[size-1].grab("other", time.Hour) // a minority that is busy makes it no contention
	for _, s := range servers[:size-lock.Majority(size)+1] {
		switch kind {
		case "down":
			s.down = true
		case "denied":
			s.refusal = "WRONGPASS no"
		case "frozen":
			s.freeze()
		}
	}
	req := locktest.RequestFor("job")
	began := time.Now()
	_, err := q.Acquire(t.Context(), req)
	var down *lock.UnavailableError
	if !errors.As(err, &down) || down.Denied != (kind == "denied") {
		t.Fatalf("got %v", err)
	}
	if took := time.Since(began); took > req.Timeout+2*trip || kind != "denied" && took < req.Timeout/2 {
		t.Errorf("took %s of %s", took, req.Timeout)
	}
	synctest.Wait() // the last requests have reached the frozen servers
	for _, s := range servers {
		if s.isFrozen() {
			s.thaw()
		}
	}
	nothingOf(t, req.Holder.Run, servers)
}

func TestASignalLeavesNothingInAQuorum(t *testing.T) {
	for _, after := range []time.Duration{way / 2, way, trip - 1, trip, 100 * time.Millisecond, 3 * time.Second} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, servers := newSim(t, 5, way)
				servers[0].freeze()
				servers[1].freeze()
				servers[2].freeze()
				ctx, cancel := context.WithCancelCause(t.Context())
				stop := errors.New("signal")
				time.AfterFunc(after, func() { cancel(stop) })
				req := locktest.RequestFor("job")
				began := time.Now()
				_, err := q.Acquire(ctx, req)
				if err != stop {
					t.Errorf("got %v", err)
				}
				inTime(t, "the end", began, after+150*time.Millisecond)
				for _, s := range servers[:3] {
					s.thaw()
				}
				synctest.Wait()
				nothingOf(t, req.Holder.Run, servers)
			})
		})
	}
}

func TestALateVoteOfAnAbandonedRoundDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		servers[0].freeze()
		req := locktest.RequestFor("job")
		l := locktest.Acquire(t, q, req)
		if err := l.Release(t.Context(), lock.ReleaseRequest{}); err != nil {
			t.Error(err)
		}
		servers[0].thaw()
		synctest.Wait()
		nothingOf(t, req.Holder.Run, servers)
		m := &simMaster{servers[0], req}
		if v, err := m.grant(t.Context(), term{round: 1}, time.Now().UnixMilli()); v.kind != revoked {
			t.Errorf("%v, %v", v, err)
		}
	})
}

func TestProbationBoundsWhatALostAnswerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		req := locktest.RequestFor("job")
		req.Times = lock.TimesOf(24 * time.Hour)
		servers[0].freeze()
		l := locktest.Acquire(t, q, req)
		if left := boottime.Until(l.Until()); left < 23*time.Hour {
			t.Errorf("a lease of %s", left)
		}
		for _, s := range servers[1:] {
			if left := s.left(); left < 23*time.Hour {
				t.Errorf("%s keeps it for %s", s.name, left)
			}
		}
		servers[0].thaw()
		time.Sleep(trip)
		if left := servers[0].left(); left > probation {
			t.Errorf("the late one keeps it for %s", left)
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

func TestAQuorumNeedsDifferentServers(t *testing.T) {
	for _, test := range []struct {
		addresses []string
		ok        bool
	}{
		{[]string{"a:6379", "b:6379"}, false},
		{[]string{"a:6379", "b:6379", "c:6379"}, true},
		{[]string{"a:6379", "b:6379", "c:6379", "d:6379"}, true},
		{[]string{"a:6379", "b:6379", "a:6379"}, false},
		{[]string{"a:6379", "b:6379", "a:6379/1"}, false},
		{[]string{"localhost:1", "b:6379", "127.0.0.1:1"}, false},
		{[]string{"127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1"}, true},
		{[]string{"/run/a", "/run/b", "/run/a/1"}, true}, // found out by the server
		{[]string{"/run/a", "/run/b", "/run/a"}, false},
	} {
		_, err := newQuorum(test.addresses, nil, nil)
		if (err == nil) != test.ok || err != nil && !errors.As(err, new(*lock.ConfigError)) {
			t.Errorf("%v: %v", test.addresses, err)
		}
	}
}

func TestTheSameServerTwiceIsDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		q.open = func(req lock.Request) []master {
			return []master{&simMaster{servers[0], req}, &simMaster{servers[1], req}, &simMaster{servers[0], req}}
		}
		req := locktest.RequestFor("job")
		_, err := q.Acquire(t.Context(), req)
		if !errors.As(err, new(*lock.ConfigError)) {
			t.Errorf("got %v", err)
		}
		nothingOf(t, req.Holder.Run, servers)
	})
}

func TestAFreshlyRestartedServerDoesNotVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		restarted := time.Now()
		fresh := func() time.Duration { return time.Since(restarted) }
		servers[0].uptime = fresh
		l := locktest.Acquire(t, q, locktest.RequestFor("job"))
		if servers[0].holder() != "" && servers[0].term.repair == 0 {
			t.Error("a server voted that had just been restarted")
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
		servers[1].uptime = fresh
		var down *lock.UnavailableError
		if _, err := q.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, &down) {
			t.Errorf("got %v", err)
		}
		time.Sleep(lock.MinUptime)
		locktest.Acquire(t, q, locktest.RequestFor("job")).Release(t.Context(), lock.ReleaseRequest{})
	})
}

// The last round is cut short by the end of the patience: what was answered before says more.
func TestARoundThatIsCutShortDoesNotHideWhyNobodyVotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, 20*time.Millisecond)
		for _, s := range servers {
			s.uptime = func() time.Duration { return time.Second }
		}
		for part := range time.Duration(20) {
			req := locktest.RequestFor("job")
			req.Timeout = time.Second
			req.Draw = func(below time.Duration) time.Duration { return below * part / 20 }
			if _, err := q.Acquire(t.Context(), req); !strings.Contains(err.Error(), "does not vote") {
				t.Errorf("with pauses of %d/20 it says %v", part, err)
			}
		}
	})
}

// Servers that have refused say what is wrong, also if they fall silent then.
func TestSilenceDoesNotHideARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		for _, s := range servers {
			s.refusal = "READONLY no"
			time.AfterFunc(10*time.Millisecond, s.freeze)
		}
		req := locktest.RequestFor("job")
		req.Timeout = time.Second
		if _, err := q.Acquire(t.Context(), req); !lock.Refused(err) {
			t.Error(err)
		}
	})
}

func TestAFenceIsBumpedWhereItWasLower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		ahead := time.Now().Add(time.Hour).UnixMilli()
		servers[1].counter = ahead
		began := time.Now()
		l := locktest.Acquire(t, q, locktest.RequestFor("job"))
		inTime(t, "acquire", began, 2*trip)
		if l.Fence() != ahead+1 {
			t.Errorf("fence %d, want %d", l.Fence(), ahead+1)
		}
		have := 0
		for _, s := range servers {
			if s.fence() >= l.Fence() {
				have++
			}
		}
		if have < 2 {
			t.Errorf("%d servers have the fence", have)
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

func TestAFenceIsNotUsedOnceTheLockHasMovedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 3, way)
		servers[1].counter = time.Now().Add(time.Hour).UnixMilli()
		for _, s := range []*simServer{servers[0], servers[2]} {
			s.before = func(what string) {
				if what == "bump" && s.run != "other" {
					s.run, s.until = "other", time.Now().Add(time.Second)
				}
			}
		}
		began := time.Now()
		req := locktest.RequestFor("job")
		req.Wait.Limit = lock.Forever
		l := locktest.Acquire(t, q, req)
		if took := time.Since(began); took < time.Second {
			t.Errorf("the lock was taken after %s", took)
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
	})
}

func TestATickOfTwentyHostsGivesOneRun(t *testing.T) {
	ticks := 200
	worst := time.Duration(0)
	for tick := range ticks {
		synctest.Test(t, func(t *testing.T) {
			q, servers := newSim(t, 5, 0)
			for _, s := range servers {
				s.latency = anyLatency
			}
			runs, refusals := tick20(t, q, 5*time.Millisecond)
			if runs != 1 || refusals != 19 {
				t.Errorf("tick %d: %d runs, %d refusals", tick, runs, refusals)
			}
			worst = max(worst, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
		})
	}
	t.Logf("%d ticks, the longest %s", ticks, worst)
}

// tick20 lets 20 hosts want one lock within spread; who gets it keeps it.
func tick20(t *testing.T, s lock.Store, spread time.Duration) (runs, refusals int) {
	var mu sync.Mutex
	var hosts sync.WaitGroup
	var leases []lock.Lease
	for range 20 {
		hosts.Go(func() {
			time.Sleep(rand.N(spread))
			l, err := s.Acquire(context.Background(), locktest.RequestFor("job"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				runs++
				leases = append(leases, l)
			case errors.As(err, new(*lock.HeldError)):
				refusals++
			default:
				t.Error(err)
			}
		})
	}
	hosts.Wait()
	for _, l := range leases {
		if err := l.Release(context.Background(), lock.ReleaseRequest{}); err != nil {
			t.Error(err)
		}
	}
	return runs, refusals
}

func TestWaitersNeitherStarveNorStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, servers := newSim(t, 5, 0)
		for _, s := range servers {
			s.latency = anyLatency
		}
		l := locktest.Acquire(t, q, locktest.RequestFor("job"))
		const waiters = 20
		for _, s := range servers {
			s.asked()
		}
		began := time.Now()
		var all sync.WaitGroup
		for range waiters {
			all.Go(func() {
				req := locktest.RequestFor("job")
				req.Wait.Limit = lock.Forever
				l, err := q.Acquire(context.Background(), req)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(10 * time.Millisecond)
				if err := l.Release(context.Background(), lock.ReleaseRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(20 * time.Second)
		for _, s := range servers {
			n, limit := s.asked(), 5*20*waiters+burst*waiters
			if n > limit {
				t.Errorf("%s was asked %d times, want at most %d", s.name, n, limit)
			}
			t.Logf("%.1f commands a second, waiter and server", float64(n)/20/waiters)
		}
		l.Release(t.Context(), lock.ReleaseRequest{})
		all.Wait()
		t.Logf("all through after %s", time.Since(began)-20*time.Second)
	})
}

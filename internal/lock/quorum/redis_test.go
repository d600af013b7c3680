package quorum

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A servers is a quorum of real servers.
type servers []*redistest.Server

// startServers starts n servers that have been up for long enough to vote: by
// a clock that is pushed back before they start.
func startServers(t *testing.T, n int, opts redistest.Options) servers {
	t.Helper()
	var all servers
	for range n {
		s, _ := startOld(t, opts)
		all = append(all, s)
	}
	return all
}

func startOld(t *testing.T, opts redistest.Options) (*redistest.Server, *redistest.Clock) {
	t.Helper()
	opts.Clock = redistest.NewClock(t)
	locktest.Must(t, opts.Clock.Push(-24*time.Hour))
	s := redistest.Start(t, opts)
	grow(t, s, opts.Clock)
	return breakLedger(t, s), opts.Clock
}

// grow puts the clock of a server right that was started with one a day slow.
func grow(t *testing.T, s *redistest.Server, c *redistest.Clock) {
	t.Helper()
	locktest.Must(t, c.Push(0))
	locktest.Until(t, "the server counts its uptime by the clock", func() bool { return uptime(t, s) > time.Hour })
}

func uptime(t *testing.T, s *redistest.Server) time.Duration {
	t.Helper()
	_, rest, _ := strings.Cut(locktest.Do(t, s, "INFO", "server").(string), "uptime_in_seconds:")
	var seconds int
	fmt.Sscan(rest, &seconds)
	return time.Duration(seconds) * time.Second
}

func (all servers) urls() (urls []string) {
	for _, s := range all {
		urls = append(urls, s.URL())
	}
	return urls
}

func (all servers) open(t *testing.T) lock.Store {
	t.Helper()
	return openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix})
}

func openAll(t *testing.T, cfg lock.Servers) lock.Store {
	t.Helper()
	s, err := Open(cfg)
	locktest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	speak(s, stepsOf(t))
	enter(t, s.(*quorum))
	return s
}

// keysLeft are the keys at a server but for fences, tombstones and broken ledgers.
func keysLeft(t *testing.T, s *redistest.Server) (left []string) {
	t.Helper()
	for _, k := range locktest.Do(t, s, "KEYS", "*").([]any) {
		if key := k.(string); !strings.HasSuffix(key, ":fence") && !strings.Contains(key, ":gone:") &&
			!ofTheLedger(t, key) {
			left = append(left, key)
		}
	}
	return left
}

func (all servers) mustBeClean(t *testing.T) {
	t.Helper()
	for i, s := range all {
		locktest.Until(t, fmt.Sprint("server ", i, " is clean"), func() bool { return len(keysLeft(t, s)) == 0 })
	}
}

// free takes the lock "job" from whoever has it.
func (all servers) free(t *testing.T) {
	t.Helper()
	for _, s := range all {
		locktest.Do(t, s, "DEL", jobKey)
	}
}

// held is at how many of the servers run has the lock "job".
func (all servers) held(t *testing.T, run string) (n int) {
	t.Helper()
	for _, s := range all {
		if v, _ := locktest.Do(t, s, "GET", "redlockrun:{job}").(string); strings.HasPrefix(v, `{"run":"`+run+`"`) {
			n++
		}
	}
	return n
}

func TestQuorumIsHeldRenewedAndReleased(t *testing.T) {
	t.Parallel()
	all := startServers(t, 5, redistest.Options{})
	s := all.open(t)
	req := locktest.RequestFor("job")
	before := time.Now()
	l := acquireWhole(t, s, req)
	if n := all.held(t, req.Holder.Run); n != 5 {
		t.Errorf("%d servers have the lock", n)
	}
	if l.Fence() < before.UnixMilli() || l.Until().Sub(before) < 50*time.Second {
		t.Errorf("fence %d, until %s", l.Fence(), l.Until())
	}
	other := locktest.RequestFor("job")
	_, err := s.Acquire(t.Context(), other)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Run != req.Holder.Run || held.Holder.Host != "web-3" ||
		held.TTL < 30*time.Second {
		t.Errorf("got %v", err)
	}
	for _, srv := range all {
		locktest.Do(t, srv, "PEXPIRE", "redlockrun:{job}", 10_000)
	}
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err != nil {
		t.Error(err)
	}
	for i, srv := range all {
		locktest.Until(t, fmt.Sprint("server ", i, " is renewed"), func() bool {
			return locktest.Do(t, srv, "PTTL", "redlockrun:{job}").(int64) > 30_000
		})
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	all.mustBeClean(t)
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrLost) {
		t.Errorf("released twice: %v", err)
	}
}

// acquireWhole takes the lock, and every server has it.
func acquireWhole(t *testing.T, s lock.Store, req lock.Request) lock.Lease {
	t.Helper()
	l := locktest.Acquire(t, s, req)
	renewUntilWhole(t, l)
	return l
}

// renewUntilWhole renews until the key of every server counts.
func renewUntilWhole(t *testing.T, l lock.Lease) {
	t.Helper()
	q := l.(*quorumLease)
	locktest.Until(t, "the key of every server counts", func() bool {
		if q.work.Wait(); whole(q) {
			return true
		}
		_, err := l.Renew(locktest.Limited(t, locktest.Patience))
		locktest.Must(t, err)
		return false
	})
}

func whole(l *quorumLease) bool {
	for i := range l.key {
		if _, counts := l.keyAt(i); !counts {
			return false
		}
	}
	return true
}

func TestAQuorumKeepsTheLockForTheMinHoldAfterTheRun(t *testing.T) {
	t.Parallel()
	all := startServers(t, 3, redistest.Options{})
	s := all.open(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: 20 * time.Second}))
	_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Ended.IsZero() || held.TTL > 20*time.Second {
		t.Errorf("got %v", err)
	}
}

func TestRestartedServersDoNotVoteUnlessTheyAreDurable(t *testing.T) {
	t.Parallel()
	var all servers
	for range 3 {
		all = append(all, redistest.Start(t, redistest.Options{}))
	}
	req := locktest.RequestFor("job")
	req.Timeout = time.Second
	_, err := all.open(t).Acquire(t.Context(), req)
	if !errors.As(err, new(*lock.UnavailableError)) || !strings.Contains(err.Error(), "does not vote") {
		t.Errorf("got %v", err)
	}
	all.mustBeClean(t)
	durable := openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true})
	locktest.Must(t, locktest.Acquire(t, durable,
		locktest.RequestFor("job")).Release(locktest.Limited(t, locktest.Patience),
		lock.ReleaseRequest{}))
}

// What the guard is for: of the two servers that have the lock one forgets it,
// and a third has never known of it.
func TestRestartedServersGiveNoSecondLock(t *testing.T) {
	t.Parallel()
	all := startServers(t, 2, redistest.Options{})
	third, clock := startOld(t, redistest.Options{})
	all = append(all, third)
	third.Kill()
	firstReq := locktest.RequestFor("job")
	first := locktest.Acquire(t, all.open(t), firstReq)
	locktest.Must(t, clock.Push(-24*time.Hour))
	locktest.Must(t, third.Restart(false))
	grow(t, third, clock)
	locktest.Must(t, all[1].Restart(false))

	req := locktest.RequestFor("job")
	req.Timeout = time.Second
	if l, err := all.open(t).Acquire(t.Context(), req); err == nil {
		t.Error("two at once")
		locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	}
	_, err := first.Renew(locktest.Limited(t, locktest.Patience))
	if !errors.Is(err, lock.ErrLost) {
		t.Errorf("one of three has the lock: %v", err)
	}
	first.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
	all.mustBeClean(t)
}

func TestTheSameServerByTwoNamesIsRefused(t *testing.T) {
	t.Parallel()
	all := startServers(t, 2, redistest.Options{})
	for _, alias := range []string{
		all[0].URL() + "/1", strings.Replace(all[0].URL(), "127.0.0.1", "localhost", 1),
		strings.Replace(all[0].URL(), "127.0.0.1", "[::1]", 1),
	} {
		_, err := Open(lock.Servers{URLs: append(all.urls(), alias), Prefix: lock.DefaultPrefix})
		if !errors.As(err, new(*lock.ConfigError)) {
			t.Errorf("%s: %v", alias, err)
		}
	}
}

// A name that says nothing is found out by the server's answers, unless one of
// them comes when the lock has been taken at the others.
func TestTheSameServerBySocketIsDetected(t *testing.T) {
	t.Parallel()
	all := startServers(t, 2, redistest.Options{})
	for _, alias := range []string{"unix://" + all[0].Socket(), "unix://" + all[0].Socket() + "?db=1"} {
		store := openAll(t, lock.Servers{URLs: append(all.urls(), alias), Prefix: lock.DefaultPrefix})
		locktest.Until(t, alias+" is found out", func() bool {
			l, err := store.Acquire(t.Context(), locktest.RequestFor("job"))
			if err == nil {
				// by one name, and then by the other it is gone
				l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{})
			} else if !errors.As(err, new(*lock.ConfigError)) {
				t.Errorf("got %v", err)
			}
			return err != nil
		})
		all.mustBeClean(t)
	}
}

func TestQuorumOfTwoIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Open(lock.Servers{URLs: []string{"redis://a", "redis://b"}})
	var bad *lock.ConfigError
	if !errors.As(err, &bad) || !strings.Contains(bad.Problem, "majority of two") {
		t.Errorf("got %v", err)
	}
}

// Faults of two of five servers, before the lock is taken and while it is held.
var minorityFaults = map[string]func(t *testing.T, s *redistest.Server){
	"killed":          func(t *testing.T, s *redistest.Server) { s.Kill() },
	"frozen":          func(t *testing.T, s *redistest.Server) { locktest.Must(t, s.Signal(syscall.SIGSTOP)) },
	"restarted empty": func(t *testing.T, s *redistest.Server) { locktest.Must(t, s.Restart(false)) },
	"of a wrong type": func(t *testing.T, s *redistest.Server) {
		locktest.Do(t, s, "DEL", "redlockrun:{job}")
		locktest.Do(t, s, "RPUSH", "redlockrun:{job}", "x")
	},
	"somebody else's": func(t *testing.T,
		s *redistest.Server) {
		locktest.Do(t, s, "SET", "redlockrun:{job}", "thief")
	},
	"out of memory": func(t *testing.T,
		s *redistest.Server) {
		locktest.Do(t, s, "CONFIG", "SET", "maxmemory", "1")
	},
	"read-only":        func(t *testing.T, s *redistest.Server) { locktest.Do(t, s, "REPLICAOF", "127.0.0.1", "1") },
	"without a script": func(t *testing.T, s *redistest.Server) { locktest.Do(t, s, "SCRIPT", "FLUSH") },
}

func TestQuorumOutlivesFaultsOfAMinority(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for name, fault := range minorityFaults {
		t.Run(name, func(t *testing.T) {
			all := startServers(t, 5, redistest.Options{})
			req := locktest.RequestFor("job")
			l := acquireWhole(t, all.open(t), req)
			for _, s := range all[3:] {
				fault(t, s)
			}
			for range 2 {
				if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err != nil {
					t.Error(err)
				}
			}
			locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
			all[:3].mustBeClean(t)

			store := all.open(t) // and now from the beginning
			l = locktest.Acquire(t, store, locktest.RequestFor("job"))
			if _, err := store.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, new(*lock.HeldError)) {
				t.Errorf("the second is told %v", err)
			}
			locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
			all[:3].mustBeClean(t)
		})
	}
}

func TestForeignKeysAreLeftAlone(t *testing.T) {
	t.Parallel()
	all := startServers(t, 3, redistest.Options{})
	l := acquireWhole(t, all.open(t), locktest.RequestFor("job"))
	for _, s := range all {
		locktest.Do(t, s, "SET", "redlockrun:{job}", "thief")
	}
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("renewed: %v", err)
	}
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("released: %v", err)
	}
	for i, s := range all {
		if v := locktest.Do(t, s, "GET", "redlockrun:{job}"); v != "thief" {
			t.Errorf("server %d has %v", i, v)
		}
		if left := locktest.Do(t, s, "PTTL", "redlockrun:{job}").(int64); left != -1 {
			t.Errorf("server %d keeps it for %d ms", i, left)
		}
	}
}

func TestAQuorumRenewsAndReleasesOutOfMemory(t *testing.T) {
	t.Parallel()
	all := startServers(t, 3, redistest.Options{})
	l := acquireWhole(t, all.open(t), locktest.RequestFor("job"))
	for _, s := range all {
		locktest.Do(t, s, "CONFIG", "SET", "maxmemory", "1")
	}
	_, err := l.Renew(locktest.Limited(t, locktest.Patience))
	locktest.Must(t, err)
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	all.mustBeClean(t)
}

func TestAWrongTypeAtAMajorityIsNotALock(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"redlockrun:{job}", "redlockrun:{job}:fence"} {
		all := startServers(t, 3, redistest.Options{})
		for _, s := range all[:2] {
			locktest.Do(t, s, "RPUSH", key, "x")
		}
		_, err := all.open(t).Acquire(t.Context(), locktest.RequestFor("job"))
		var wrong *lock.NotLockError
		if !errors.As(err, &wrong) || wrong.Key != key || wrong.What != "a list" {
			t.Errorf("got %v", err)
		}
	}
}

func TestSignalEndsAWaitForTheQuorum(t *testing.T) {
	t.Parallel()
	all := startServers(t, 3, redistest.Options{})
	store := all.open(t)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("signal")
	req := locktest.RequestFor("job")
	req.Wait.Limit = lock.Forever
	req.OnBusy = func(*lock.HeldError) { cancel(stop) }
	if _, err := store.Acquire(ctx, req); err != stop {
		t.Errorf("got %v", err)
	}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	all.mustBeClean(t)
}

func TestAQuorumNeedsOnlyTheDocumentedRights(t *testing.T) {
	t.Parallel()
	rights := "job on >pw resetchannels -@all " + lock.MinimalACL + " " + lock.QuorumACL
	for _, without := range append(strings.Fields(lock.QuorumACL), "nothing") {
		t.Run("without "+without, func(t *testing.T) {
			all := startServers(t, 3, redistest.Options{Users: []string{strings.ReplaceAll(rights, " "+without, "")}})
			var urls []string
			for _, s := range all {
				urls = append(urls, strings.Replace(s.URL(), "redis://", "redis://job:pw@", 1))
			}
			l, err := openAll(t, lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix}).Acquire(t.Context(),
				locktest.RequestFor("job"))
			if without != "nothing" {
				var down *lock.UnavailableError
				if !errors.As(err, &down) || !down.Denied {
					t.Errorf("got %v", err)
				}
				return
			}
			locktest.Must(t, err)
			_, err = l.Renew(locktest.Limited(t, locktest.Patience))
			locktest.Must(t, err)
			locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience),
				lock.ReleaseRequest{Keep: 10 * time.Second}))
		})
	}
}

func TestABusyQuorumSaysSinceWhenTheLockIsHeld(t *testing.T) {
	t.Parallel()
	var all servers
	for range 3 {
		all = append(all, redistest.Start(t, redistest.Options{}))
	}
	locktest.SaysSinceWhen(t, openAll(t, lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true}))
}

// Masters that are asked one after the other, as on a slow host, are told of one instant:
// else their counters would differ, and agreeing on a fence would take another round trip.
func TestFenceIsOfOneInstantAtAllMasters(t *testing.T) {
	t.Parallel()
	s := startServers(t, 5, redistest.Options{}).open(t).(*quorum)
	open, turn, bumps := s.open, new(sync.Mutex), new(atomic.Int32)
	s.open = func(req lock.Request) (masters []master) {
		for _, m := range open(req) {
			masters = append(masters, &latecomer{m, turn, bumps})
		}
		return masters
	}
	locktest.Acquire(t, s, locktest.RequestFor("job"))
	if n := bumps.Load(); n > 0 {
		t.Errorf("%d servers had to bump their fences", n)
	}
}

// A latecomer asks a master for its vote in a millisecond of its own.
type latecomer struct {
	master
	turn  *sync.Mutex
	bumps *atomic.Int32
}

func (c *latecomer) grant(ctx context.Context, b term, asked int64) (vote, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	for began := time.Now().UnixMilli(); time.Now().UnixMilli() == began; {
		runtime.Gosched()
	}
	return c.master.grant(ctx, b, asked)
}

func (c *latecomer) bump(ctx context.Context, b term, fence int64) (bool, error) {
	c.bumps.Add(1)
	return c.master.bump(ctx, b, fence)
}

package line_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// aLiar is a sentinel of our own: it answers each question of a sentinel by addr.
func aLiar(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(addr)
	named := fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(host), host, len(port), port)
	var talks sync.WaitGroup
	talks.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			talks.Go(func() {
				defer c.Close()
				lines := bufio.NewScanner(c)
				for lines.Scan() {
					switch strings.ToLower(lines.Text()) {
					case "hello":
						io.WriteString(c, "*2\r\n$5\r\nproto\r\n:2\r\n")
					case "get-master-addr-by-name":
						io.WriteString(c, named)
					case "master":
						io.WriteString(c, "-NOPERM\r\n")
					}
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); talks.Wait() })
	return l.Addr().String()
}

// stop makes a server hang.
func stop(t *testing.T, s *redistest.Server) {
	t.Helper()
	locktest.Must(t, s.Signal(syscall.SIGSTOP))
}

func TestHungKilledAndStaleSentinelsAreSurvived(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	p := sentinelPlace(s)
	old := s.Data[0].Addr()

	hung := s.Sentinels[0]
	stop(t, hung)
	release(t, locktest.Acquire(t, p.open(t), locktest.RequestFor("one hangs")))

	// The one that hangs misses a failover.
	master, err := s.Failover(s.Sentinels[1], s.Sentinels[2])
	if err != nil {
		t.Fatal(err)
	}
	release(t, locktest.Acquire(t, p.open(t), locktest.RequestFor("failed over")))

	// A stale one answers first, and is outvoted; the old master is still there.
	stale := aLiar(t, old)
	url := "redis+sentinel://" + stale + "," + s.Sentinels[1].Addr() + "," + s.Sentinels[2].Addr() + "/mymaster"
	three := place{lock.Servers{URLs: []string{url}}, nil}
	l := locktest.Acquire(t, three.open(t), locktest.RequestFor("one is stale"))
	if got := locktest.Do(t, master, "EXISTS", locktest.LockKey("one is stale")); got != int64(1) {
		t.Error("the lock is not at the new master")
	}
	release(t, l)

	s.Sentinels[1].Kill()
	release(t, locktest.Acquire(t, p.open(t), locktest.RequestFor("one hangs, one is killed")))
	locktest.Must(t, hung.Signal(syscall.SIGCONT))
	hung.Kill()
	release(t, locktest.Acquire(t, p.open(t), locktest.RequestFor("two are killed")))

	s.Sentinels[2].Kill()
	req := locktest.RequestFor("all are killed")
	req.Timeout = 3 * time.Second
	var unavailable *lock.UnavailableError
	if _, err := p.open(t).Acquire(t.Context(), req); !errors.As(err, &unavailable) ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("all are killed: %v", err)
	}
}

func TestAMasterThatNoSentinelKnowsIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{})
	url := strings.Replace(s.URL(), "/mymaster/", "/nomaster/", 1)
	req := within(locktest.Patience * 10)
	_, err := place{cfg: lock.Servers{URLs: []string{url}}}.open(t).Acquire(t.Context(), req)
	var unavailable *lock.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "knows no master of that name") {
		t.Error(err)
	}
}

// A replica that a stale sentinel names has all the data, and refuses to speak
// of them: that is no answer, neither "busy" nor "lost".
func TestAReplicaIsNotUsedAsAMaster(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	replica := place{lock.Servers{URLs: []string{"redis+sentinel://" + aLiar(t, s.Data[1].Addr()) + "/mymaster"}}, nil}
	l := locktest.Acquire(t, sentinelPlace(s).open(t), locktest.RequestFor("busy"))
	locktest.Must(t, redistest.Replicated(s.Data[0], s.Data[1]))
	for _, name := range []string{"busy", "free"} {
		req := locktest.RequestFor(name)
		req.Timeout = 3 * time.Second
		_, err := replica.open(t).Acquire(t.Context(), req)
		var unavailable *lock.UnavailableError
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "READONLY") {
			t.Errorf("%s: %v", name, err)
		}
	}
	release(t, l)
}

func TestAReplicatedLockSurvivesAFailover(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	store := sentinelPlace(s).open(t)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	waiting, _ := park(t, s.Data[0], store, waits("job", locktest.Patience), 1)
	locktest.Must(t, redistest.Replicated(s.Data[0], s.Data[1]))
	s.Data[0].Kill()
	if _, err := s.Failover(s.Sentinels[0], s.Sentinels[1:]...); err != nil {
		t.Fatal(err)
	}
	locktest.Renew(t, l)
	locktest.Until(t, "the waiter at the new master", func() bool {
		return inLine(t, s.Data[1], "job") == 1 &&
			locktest.Do(t, s.Data[1], "PUBSUB", "CHANNELS", "redlockrun:*").([]any) != nil
	})
	release(t, l)
	release(t, lease(t, waiting))
}

func TestAFailoverLosesALockThatWasNotReplicated(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	l := locktest.Acquire(t, sentinelPlace(s).open(t), locktest.RequestFor("job"))
	locktest.Must(t, redistest.Replicated(s.Data[0], s.Data[1]))
	locktest.Do(t, s.Data[1], "CONFIG", "SET", "replica-read-only", "no") // it never had the lock
	locktest.Do(t, s.Data[1], "DEL", locktest.LockKey("job"))
	s.Data[0].Kill()
	if _, err := s.Failover(s.Sentinels[0], s.Sentinels[1:]...); err != nil {
		t.Fatal(err)
	}
	var err error
	locktest.Until(t, "the loss", func() bool {
		_, err = l.Renew(locktest.Limited(t, locktest.Patience/3))
		return errors.Is(err, lock.ErrLost)
	})
}

func TestAnAcquireCountsOnlyWithItsReplicas(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 2})
	for name, p := range map[string]place{
		"Sentinel":   sentinelPlace(s),
		"one server": serverPlace(s.Data[0], s.Data[0].URL()),
	} {
		t.Run(name, func(t *testing.T) {
			p.cfg.Replicas, p.cfg.ReplicasTimeout = 2, locktest.Patience
			l := locktest.Acquire(t, p.open(t), locktest.RequestFor(name))
			for _, data := range s.Data {
				if got := locktest.Do(t, data, "EXISTS", locktest.LockKey(name)); got != int64(1) {
					t.Errorf("%s has not got it", data.Addr())
				}
			}
			release(t, l)
			stop(t, s.Data[2])
			defer s.Data[2].Signal(syscall.SIGCONT)
			p.cfg.ReplicasTimeout = 50 * time.Millisecond
			_, err := p.open(t).Acquire(t.Context(), locktest.RequestFor(name))
			var unavailable *lock.UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "1 of 2 replicas") {
				t.Errorf("one replica hangs: %v", err)
			}
			if got := locktest.Do(t, s.Data[0], "EXISTS", locktest.LockKey(name)); got != int64(0) {
				t.Error("the acquire was not undone")
			}
		})
	}
}

func TestALockThatWaitsForReplicasIsHandedOver(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	p := sentinelPlace(s)
	p.cfg.Replicas, p.cfg.ReplicasTimeout = 1, locktest.Patience
	store := p.open(t)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	waiting, _ := park(t, s.Data[0], store, waits("job", locktest.Patience), 1)
	release(t, l)
	next := lease(t, waiting)
	if got := locktest.Do(t, s.Data[1], "GET", locktest.LockKey("job")); got == nil {
		t.Error("the replica has not got it")
	}
	release(t, next)
}

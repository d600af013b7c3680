package line_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A parted is a master with a sentinel on the left, its replica with two on
// the right, and a client on either side.
type parted struct {
	net   *redistest.Network
	s     *redistest.Sentinel
	left  place
	right place
}

func newParted(t *testing.T, args ...string) parted {
	t.Helper()
	n := redistest.NewNetwork(t)
	s := redistest.StartSentinel(t, redistest.SentinelOptions{
		Data: redistest.Options{Args: args}, Replicas: 1,
		Places: []*redistest.Host{n.Left, n.Right, n.Left, n.Right, n.Right},
	})
	url := []string{s.URL()}
	side := func(dial lock.Dialer) place { return place{cfg: lock.Servers{URLs: url, Dial: dial}} }
	return parted{n, s, side(n.Left.DialContext), side(n.Right.DialContext)}
}

func (p parted) cut(t *testing.T) {
	t.Helper()
	locktest.Must(t, p.net.Cut())
}

// failOver makes the replica the master, on the right.
func (p parted) failOver(t *testing.T) {
	t.Helper()
	if _, err := p.s.Failover(p.s.Sentinels[1], p.s.Sentinels[2]); err != nil {
		t.Fatal(err)
	}
}

// This is what is not promised: a master that is cut off together with its
// client goes on for both of them, while the others have made another. The fence
// tells the two holders apart, and once the cut is healed the first one learns.
func TestAMasterCutOffWithItsClientLeadsToASecondHolderWithAHigherFence(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	p := newParted(t)
	p.cut(t)
	a := locktest.Acquire(t, p.left.open(t), locktest.RequestFor("job"))
	p.failOver(t)
	b := locktest.Acquire(t, p.right.open(t), locktest.RequestFor("job"))
	locktest.Renew(t, a)
	locktest.Renew(t, b) // the two at once
	if a.Fence() >= b.Fence() {
		t.Errorf("fences %d and then %d", a.Fence(), b.Fence())
	}
	locktest.Must(t, p.net.Heal())
	locktest.Until(t, "the first holder to learn of the second", func() bool {
		_, err := a.Renew(locktest.Limited(t, locktest.Patience/3))
		return errors.Is(err, lock.ErrTaken)
	})
	locktest.Renew(t, b)
	if err := a.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("the first holder released: %v", err)
	}
	release(t, b)
}

func TestWithMinReplicasAMasterCutOffStopsItsClient(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	p := newParted(t, "--min-replicas-to-write", "1", "--min-replicas-max-lag", "1")
	store := p.left.open(t)
	a := locktest.Acquire(t, store, locktest.RequestFor("job"))
	p.cut(t)
	locktest.Until(t, "NOREPLICAS", func() bool {
		_, err := a.Renew(locktest.Limited(t, locktest.Patience/3))
		if errors.Is(err, lock.ErrLost) {
			t.Fatal(err)
		}
		return err != nil && strings.Contains(err.Error(), "NOREPLICAS")
	})
	req := locktest.RequestFor("another")
	req.Timeout = 3 * time.Second
	var unavailable *lock.UnavailableError
	if _, err := store.Acquire(t.Context(), req); !errors.As(err, &unavailable) ||
		!strings.Contains(err.Error(), "NOREPLICAS") {
		t.Errorf("acquired: %v", err)
	}
}

func TestAMasterCutOffRefusesAnAcquireThatAsksForReplicas(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	p := newParted(t)
	p.cut(t)
	p.left.cfg.Replicas, p.left.cfg.ReplicasTimeout = 1, 100*time.Millisecond
	var unavailable *lock.UnavailableError
	_, err := p.left.open(t).Acquire(t.Context(), locktest.RequestFor("job"))
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "0 of 1 replicas") {
		t.Errorf("acquired: %v", err)
	}
	if got := locktest.Do(t, p.s.Data[0], "EXISTS", locktest.LockKey("job")); got != int64(0) {
		t.Error("the acquire was not undone")
	}
}

func TestAReplicatedLockSurvivesThePartitionOfItsMaster(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	p := newParted(t)
	p.right.cfg.Replicas, p.right.cfg.ReplicasTimeout = 1, locktest.Patience
	l := locktest.Acquire(t, p.right.open(t), locktest.RequestFor("job"))
	p.cut(t)
	p.failOver(t)
	locktest.Renew(t, l)
	req := locktest.RequestFor("job")
	var held *lock.HeldError
	if _, err := p.right.open(t).Acquire(t.Context(), req); !errors.As(err, &held) {
		t.Errorf("acquired: %v", err)
	}
	release(t, l)
}

package line_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// moving is a lock in a Cluster, and the masters that its slot moves between.
func moving(t *testing.T) (c *redistest.Cluster, store lock.Store, from, to *redistest.Server) {
	t.Helper()
	c = redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{Password: "pw"}})
	owner := c.Owner(locktest.LockKey("job"))
	return c, clusterPlace(c).open(t), c.Masters[owner], c.Masters[(owner+1)%3]
}

// beginMigration lets the slot of the lock begin to move.
func beginMigration(t *testing.T, c *redistest.Cluster, from, to *redistest.Server) *redistest.Migration {
	t.Helper()
	m, err := c.BeginMigration(locktest.LockKey("job"), from, to)
	locktest.Must(t, err)
	return m
}

func TestAClusterSlotMovesUnderARunningJob(t *testing.T) {
	t.Parallel()
	c, store, from, to := moving(t)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	m := beginMigration(t, c, from, to)
	once := func(when string) {
		t.Helper()
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	once("the keys are still here")
	locktest.Must(t, m.MoveKeys())
	once("the keys are there, the slot is here")
	once("and again")
	locktest.Must(t, m.End())
	once("the slot is there")
	if got := locktest.Do(t, to, "EXISTS", locktest.LockKey("job")); got != int64(1) {
		t.Error("the lock is not at the new master")
	}
	release(t, l)

	// Back, and a job that has heard of nothing.
	l = locktest.Acquire(t, store, locktest.RequestFor("job"))
	locktest.Must(t, c.Migrate(locktest.LockKey("job"), to, from))
	once("the slot is back")
	release(t, l)
}

func TestTheRightsOfAJobSufficeWhileItsClusterSlotMoves(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	p := clusterPlace(c)
	p.cfg.URLs[0] = strings.Replace(p.cfg.URLs[0], "://", "://jobs:pw@", 1)
	permit(t, c.Masters, strings.Fields(lock.MinimalACL)...)
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("job"))
	owner := c.Owner(locktest.LockKey("job"))
	m, err := c.BeginMigration(locktest.LockKey("job"), c.Masters[owner], c.Masters[(owner+1)%3])
	if err != nil {
		t.Fatal(err)
	}
	locktest.Must(t, m.MoveKeys())
	var r *lock.Refusal
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.As(err, &r) || r.Command != "ASKING" {
		t.Errorf("without %s: %v", lock.ClusterACL, err)
	}
	permit(t, c.Masters, strings.Fields(lock.MinimalACL+" "+lock.ClusterACL)...)
	locktest.Renew(t, l)
	locktest.Must(t, m.End())
	release(t, l)
}

func TestAReleaseWaitsUntilTheClusterSlotHasMoved(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	c, store, from, to := moving(t)
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	m := beginMigration(t, c, from, to)
	req := within(3 * time.Second)
	var unavailable *lock.UnavailableError
	if _, err := store.Acquire(t.Context(), req); !errors.As(err, &unavailable) {
		t.Errorf("while the slot moves: %v", err)
	}
	released := make(chan error, 1)
	go func() { released <- l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}) }()
	locktest.Must(t, errors.Join(m.MoveKeys(), m.End()))
	if err := <-released; err != nil {
		t.Error(err)
	}
	if got := locktest.Do(t, to, "EXISTS", locktest.LockKey("job")); got != int64(0) {
		t.Error("the lock is still there")
	}
}

func TestAClusterSlotMovesUnderTheQueue(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	c, store, from, to := moving(t)
	held := locktest.Acquire(t, store, locktest.RequestFor("job"))
	first, second := parkTwo(t, from, store)
	locktest.Must(t, c.Migrate(locktest.LockKey("job"), from, to))
	locktest.Renew(t, held)
	locktest.Until(t, "the waiters' subscriptions at the new master", func() bool {
		return len(locktest.Do(t, to, "PUBSUB", "CHANNELS", "redlockrun:*").([]any)) == 2
	})
	release(t, serve(t, held, first, second))
}

func TestAClusterNodeWithAReplicaIsKilled(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	store, place := clusterPlace(c).open(t), c.Owner(locktest.LockKey("job"))
	replicated := clusterPlace(c)
	replicated.cfg.Replicas, replicated.cfg.ReplicasTimeout = 1, locktest.Patience
	l := locktest.Acquire(t, replicated.open(t), locktest.RequestFor("job"))
	c.Masters[place].Kill()
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err == nil || errors.Is(err, lock.ErrLost) {
		t.Errorf("before the replica has taken over: %v", err)
	}
	locktest.Must(t, c.Failover(place))
	locktest.Renew(t, l)
	release(t, l)
	release(t, locktest.Acquire(t, store, locktest.RequestFor("job")))
}

func TestAClusterNodeWithoutAReplicaIsKilled(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	c := redistest.StartCluster(t, redistest.ClusterOptions{NodeTimeout: 500})
	store, place := clusterPlace(c).open(t), c.Owner(locktest.LockKey("job"))
	l := locktest.Acquire(t, store, locktest.RequestFor("job"))
	c.Masters[place].Kill()
	var err error
	locktest.Until(t, "CLUSTERDOWN", func() bool {
		if _, err = l.Renew(locktest.Limited(t, locktest.Patience/3)); err == nil || errors.Is(err, lock.ErrLost) {
			t.Fatal(err)
		}
		return strings.Contains(err.Error(), "CLUSTERDOWN")
	})
	req := within(3 * time.Second)
	var unavailable *lock.UnavailableError
	if _, err := store.Acquire(t.Context(), req); !errors.As(err, &unavailable) {
		t.Errorf("acquired: %v", err)
	}
}

func TestAHungClusterNodeStopsOnlyItsOwnSlots(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	place := c.Owner(locktest.LockKey("job"))
	release(t, locktest.Acquire(t, clusterPlace(c).open(t), locktest.RequestFor("job")))
	for i := range c.Masters {
		if i != place {
			stop(t, c.Masters[i])
			break
		}
	}
	release(t, locktest.Acquire(t, clusterPlace(c).open(t), locktest.RequestFor("job")))
}

func TestANodeOfAClusterIsNoSingleServer(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	other := c.Masters[(c.Owner(locktest.LockKey("job"))+1)%3]
	req := within(10 * locktest.Patience)
	_, err := open(t, other.URL()).Acquire(t.Context(), req)
	var unavailable *lock.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "redis+cluster://") {
		t.Error(err)
	}
}

func TestClusterHasNoDatabases(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis+cluster://a/1", "redis+cluster://a?db=1", "rediss+cluster://a,b/0"} {
		var wrong *lock.ConfigError
		if _, err := line.Open(lock.Servers{URLs: []string{url}}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// strand is a lock in a Cluster whose URL names one node alone, which is not the
// lock's and is killed: nobody whom the URL names can be asked any more.
func strand(t *testing.T, rights string) (c *redistest.Cluster, l lock.Lease, gone func()) {
	t.Helper()
	c = redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	seed := c.Masters[(c.Owner(locktest.LockKey("job"))+1)%3]
	permit(t, slices.Concat(c.Masters, c.Replicas), strings.Fields(rights)...)
	p := clusterPlace(c)
	p.cfg.URLs[0] = "redis+cluster://jobs:pw@" + seed.Addr()
	return c, locktest.Acquire(t, p.open(t), locktest.RequestFor("job")), seed.Kill
}

// disconnect lets a renewal fail, so that the next one is on a fresh connection.
func disconnect(t *testing.T, l lock.Lease, at *redistest.Server) {
	t.Helper()
	stop(t, at)
	if _, err := l.Renew(locktest.Limited(t, 100*time.Millisecond)); err == nil {
		t.Fatal("a frozen server renewed the lock")
	}
	locktest.Must(t, at.Signal(syscall.SIGCONT))
}

func TestAJobOutlivesTheNodesOfItsURLWhileTheOwnerLives(t *testing.T) {
	t.Parallel()
	c, l, gone := strand(t, lock.MinimalACL)
	gone()
	disconnect(t, l, c.Masters[c.Owner(locktest.LockKey("job"))])
	locktest.Renew(t, l)
	release(t, l)
}

func TestAJobThatKnowsNobodyElseIsSentOnByTheOwner(t *testing.T) {
	t.Parallel()
	c, l, gone := strand(t, lock.MinimalACL)
	gone()
	owner := c.Owner(locktest.LockKey("job"))
	from, to := c.Masters[owner], c.Masters[(owner+2)%3]
	locktest.Must(t, c.Migrate(locktest.LockKey("job"), from, to))
	disconnect(t, l, from)
	locktest.Renew(t, l)
	from.Kill()
	disconnect(t, l, to)
	if err := keepsRenewing(t, l); err != nil {
		t.Errorf("when the first owner has gone, too: %v", err)
	}
	release(t, l)
}

func TestAJobOutlivesTheOwnerTooIfItWasToldOfOthers(t *testing.T) {
	t.Parallel()
	c, l, gone := strand(t, lock.MinimalACL+" "+lock.ClusterNodesACL)
	place := c.Owner(locktest.LockKey("job"))
	locktest.Renew(t, l)
	locktest.Must(t, redistest.Replicated(c.Masters[place], c.Replicas[place]))
	gone()
	c.Masters[place].Kill()
	locktest.Must(t, c.Failover(place))
	locktest.Renew(t, l)
	release(t, l)
}

// Who may not ask for the nodes asks once.
func TestARightToKnowTheNodesIsNoneThatAJobNeeds(t *testing.T) {
	t.Parallel()
	c, l, _ := strand(t, lock.MinimalACL)
	for range 3 {
		locktest.Renew(t, l)
	}
	refused := locktest.Do(t, c.Masters[c.Owner(locktest.LockKey("job"))], "ACL", "LOG").([]any)
	if len(refused) != 1 || !strings.HasPrefix(fmt.Sprint(refused[0]), "[count 1 ") {
		t.Errorf("refused: %v", refused)
	}
	release(t, l)
}

// A waiter, too, goes on asking the node that it was sent to.
func TestAWaiterOutlivesTheNodesOfItsURLWhileTheOwnerLives(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	place := c.Owner(locktest.LockKey("job"))
	owner, seed := c.Masters[place], c.Masters[(place+1)%3]
	held := locktest.Acquire(t, clusterPlace(c).open(t), locktest.RequestFor("job"))
	p := clusterPlace(c)
	p.cfg.URLs[0] = "redis+cluster://" + seed.Addr()
	silent := make(chan error, 100)
	req := waits("job", lock.Forever)
	req.OnOutage = func(err error) { silent <- err }
	done, _ := park(t, owner, p.open(t), req, 1)
	seed.Kill()
	locktest.Do(t, owner, "CLIENT", "KILL", "TYPE", "pubsub")
	stop(t, owner)
	<-silent
	locktest.Must(t, owner.Signal(syscall.SIGCONT))
	locktest.Renew(t, held)
	release(t, held)
	release(t, lease(t, done))
}

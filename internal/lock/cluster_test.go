package lock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/redistest"
)

// moving is a lock in a Cluster, and the masters that its slot moves between.
func moving(t *testing.T) (c *redistest.Cluster, store Store, from, to *redistest.Server) {
	t.Helper()
	c = redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{Password: "pw"}})
	owner := c.Owner(lockKey("job"))
	return c, clusterPlace(c).open(t), c.Masters[owner], c.Masters[(owner+1)%3]
}

func TestL20ASlotMovesUnderARunningJob(t *testing.T) {
	t.Parallel()
	c, store, from, to := moving(t)
	l := acquire(t, store, requestFor("job"))
	m, err := c.BeginMigration(lockKey("job"), from, to)
	if err != nil {
		t.Fatal(err)
	}
	once := func(when string) {
		t.Helper()
		if _, err := l.Renew(limited(t, patience)); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	once("the keys are still here")
	if err := m.MoveKeys(); err != nil {
		t.Fatal(err)
	}
	once("the keys are there, the slot is here")
	once("and again")
	if err := m.End(); err != nil {
		t.Fatal(err)
	}
	once("the slot is there")
	if got := do(t, to, "EXISTS", lockKey("job")); got != int64(1) {
		t.Error("the lock is not at the new master")
	}
	release(t, l)

	// Back, and a job that has heard of nothing.
	l = acquire(t, store, requestFor("job"))
	if err := c.Migrate(lockKey("job"), to, from); err != nil {
		t.Fatal(err)
	}
	once("the slot is back")
	release(t, l)
}

func TestL20TheRightsOfAJobSufficeWhileItsSlotMoves(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	p := clusterPlace(c)
	p.cfg.URLs[0] = strings.Replace(p.cfg.URLs[0], "://", "://jobs:pw@", 1)
	permit(t, c.Masters, strings.Fields(MinimalACL)...)
	l := acquire(t, p.open(t), requestFor("job"))
	owner := c.Owner(lockKey("job"))
	m, err := c.BeginMigration(lockKey("job"), c.Masters[owner], c.Masters[(owner+1)%3])
	if err != nil {
		t.Fatal(err)
	}
	if err := m.MoveKeys(); err != nil {
		t.Fatal(err)
	}
	var r *Refusal
	if _, err := l.Renew(limited(t, patience)); !errors.As(err, &r) || r.Command != "ASKING" {
		t.Errorf("without %s: %v", ClusterACL, err)
	}
	permit(t, c.Masters, strings.Fields(MinimalACL+" "+ClusterACL)...)
	renew(t, l)
	if err := m.End(); err != nil {
		t.Fatal(err)
	}
	release(t, l)
}

func TestL20AReleaseWaitsUntilTheSlotHasMoved(t *testing.T) {
	t.Parallel()
	c, store, from, to := moving(t)
	l := acquire(t, store, requestFor("job"))
	m, err := c.BeginMigration(lockKey("job"), from, to)
	if err != nil {
		t.Fatal(err)
	}
	req := requestFor("job")
	req.Timeout = 3 * time.Second
	var unavailable *UnavailableError
	if _, err := store.Acquire(t.Context(), req); !errors.As(err, &unavailable) {
		t.Errorf("while the slot moves: %v", err)
	}
	released := make(chan error, 1)
	go func() { released <- l.Release(limited(t, patience), 0) }()
	if err := errors.Join(m.MoveKeys(), m.End()); err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	if got := do(t, to, "EXISTS", lockKey("job")); got != int64(0) {
		t.Error("the lock is still there")
	}
}

func TestL20ASlotMovesUnderTheLine(t *testing.T) {
	t.Parallel()
	c, store, from, to := moving(t)
	held := acquire(t, store, requestFor("job"))
	first, _ := park(t, from, store, waits("job", patience), 1)
	second, _ := park(t, from, store, waits("job", patience), 2)
	if err := c.Migrate(lockKey("job"), from, to); err != nil {
		t.Fatal(err)
	}
	renew(t, held)
	until(t, "the waiters' subscriptions at the new master", func() bool {
		return len(do(t, to, "PUBSUB", "CHANNELS", "redlockrun:*").([]any)) == 2
	})
	fence := held.Fence()
	for _, done := range []<-chan result{first, second} {
		release(t, held)
		held = lease(t, done)
		if held.Fence() <= fence {
			t.Errorf("fence %d after %d", held.Fence(), fence)
		}
		fence = held.Fence()
	}
	release(t, held)
}

func TestL20ANodeIsKilledWithAReplica(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	store, place := clusterPlace(c).open(t), c.Owner(lockKey("job"))
	replicated := clusterPlace(c)
	replicated.cfg.Replicas, replicated.cfg.ReplicasTimeout = 1, patience
	l := acquire(t, replicated.open(t), requestFor("job"))
	c.Masters[place].Kill()
	if _, err := l.Renew(limited(t, patience)); err == nil || errors.Is(err, ErrLost) {
		t.Errorf("before the replica has taken over: %v", err)
	}
	if err := c.Failover(place); err != nil {
		t.Fatal(err)
	}
	renew(t, l)
	release(t, l)
	release(t, acquire(t, store, requestFor("job")))
}

func TestL20ANodeIsKilledWithoutAReplica(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{NodeTimeout: 500})
	store, place := clusterPlace(c).open(t), c.Owner(lockKey("job"))
	l := acquire(t, store, requestFor("job"))
	c.Masters[place].Kill()
	var err error
	until(t, "CLUSTERDOWN", func() bool {
		if _, err = l.Renew(limited(t, patience/3)); err == nil || errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
		return strings.Contains(err.Error(), "CLUSTERDOWN")
	})
	req := requestFor("job")
	req.Timeout = 3 * time.Second
	var unavailable *UnavailableError
	if _, err := store.Acquire(t.Context(), req); !errors.As(err, &unavailable) {
		t.Errorf("acquired: %v", err)
	}
}

func TestL20AHungNodeStopsOnlyItsOwnSlots(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	place := c.Owner(lockKey("job"))
	release(t, acquire(t, clusterPlace(c).open(t), requestFor("job")))
	for i := range c.Masters {
		if i != place {
			stop(t, c.Masters[i])
			break
		}
	}
	release(t, acquire(t, clusterPlace(c).open(t), requestFor("job")))
}

func TestANodeOfAClusterIsNoSingleServer(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	other := c.Masters[(c.Owner(lockKey("job"))+1)%3]
	req := requestFor("job")
	req.Timeout = 10 * patience
	_, err := open(t, other.URL()).Acquire(t.Context(), req)
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "redis+cluster://") {
		t.Error(err)
	}
}

func TestClusterHasNoDatabases(t *testing.T) {
	for _, url := range []string{"redis+cluster://a/1", "redis+cluster://a?db=1", "rediss+cluster://a,b/0"} {
		var wrong *ConfigError
		if _, err := Open(OpenConfig{URLs: []string{url}}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// strand is a lock in a Cluster whose URL names one node alone, which is not the
// lock's and is killed: nobody whom the URL names can be asked any more.
func strand(t *testing.T, rights string) (c *redistest.Cluster, l Lease, gone func()) {
	t.Helper()
	c = redistest.StartCluster(t, redistest.ClusterOptions{Replicas: 1})
	seed := c.Masters[(c.Owner(lockKey("job"))+1)%3]
	permit(t, slices.Concat(c.Masters, c.Replicas), strings.Fields(rights)...)
	p := clusterPlace(c)
	p.cfg.URLs[0] = "redis+cluster://jobs:pw@" + seed.Addr()
	return c, acquire(t, p.open(t), requestFor("job")), seed.Kill
}

// disconnect lets a renewal fail, so that the next one is on a fresh connection.
func disconnect(t *testing.T, l Lease, at *redistest.Server) {
	t.Helper()
	stop(t, at)
	if _, err := l.Renew(limited(t, 100*time.Millisecond)); err == nil {
		t.Fatal("a frozen server renewed the lock")
	}
	if err := at.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

func TestAJobOutlivesTheNodesOfItsURLWhileTheOwnerLives(t *testing.T) {
	t.Parallel()
	c, l, gone := strand(t, MinimalACL)
	gone()
	disconnect(t, l, c.Masters[c.Owner(lockKey("job"))])
	if err := keepsRenewing(t, l); err != nil {
		t.Error(err)
	}
	release(t, l)
}

func TestAJobThatKnowsNobodyElseIsSentOnByTheOwner(t *testing.T) {
	t.Parallel()
	c, l, gone := strand(t, MinimalACL)
	gone()
	owner := c.Owner(lockKey("job"))
	from, to := c.Masters[owner], c.Masters[(owner+2)%3]
	if err := c.Migrate(lockKey("job"), from, to); err != nil {
		t.Fatal(err)
	}
	disconnect(t, l, from)
	if err := keepsRenewing(t, l); err != nil {
		t.Error(err)
	}
	from.Kill()
	disconnect(t, l, to)
	if err := keepsRenewing(t, l); err != nil {
		t.Errorf("when the first owner has gone, too: %v", err)
	}
	release(t, l)
}

func TestAJobOutlivesTheOwnerTooIfItWasToldOfOthers(t *testing.T) {
	t.Parallel()
	c, l, gone := strand(t, MinimalACL+" "+ClusterNodesACL)
	place := c.Owner(lockKey("job"))
	renew(t, l)
	if err := redistest.Replicated(c.Masters[place], c.Replicas[place]); err != nil {
		t.Fatal(err)
	}
	gone()
	c.Masters[place].Kill()
	if err := c.Failover(place); err != nil {
		t.Fatal(err)
	}
	if err := keepsRenewing(t, l); err != nil {
		t.Error(err)
	}
	release(t, l)
}

// Who may not ask for the nodes asks once.
func TestARightToKnowTheNodesIsNoneThatAJobNeeds(t *testing.T) {
	t.Parallel()
	c, l, _ := strand(t, MinimalACL)
	for range 3 {
		renew(t, l)
	}
	refused := do(t, c.Masters[c.Owner(lockKey("job"))], "ACL", "LOG").([]any)
	if len(refused) != 1 || !strings.HasPrefix(fmt.Sprint(refused[0]), "[count 1 ") {
		t.Errorf("refused: %v", refused)
	}
	release(t, l)
}

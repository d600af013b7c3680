package line_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// names is a resolver whose entries can change, and a list of what was dialled.
type names struct {
	mu     sync.Mutex
	where  map[string]string
	dialed []string
}

func (n *names) set(name, addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.where[name] = addr
}

func (n *names) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, addr)
	if known, ok := n.where[addr]; ok {
		addr = known
	}
	n.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func TestAHostNameIsResolvedForEachConnection(t *testing.T) {
	t.Parallel()
	before := redistest.Start(t, redistest.Options{})
	after := redistest.Start(t, redistest.Options{Args: []string{"--replicaof", "127.0.0.1", port(t, before)}})
	n := &names{where: map[string]string{}}
	n.set("redis.test:6379", before.Addr())
	l := locktest.Acquire(t, place{cfg: lock.Servers{URLs: []string{"redis://redis.test"}, Dial: n.dial}}.open(t),
		locktest.RequestFor("job"))
	locktest.Until(t, "the replica to have the lock", func() bool {
		return locktest.Do(t, after, "EXISTS", locktest.LockKey("job")) == int64(1)
	})
	locktest.Do(t, after, "REPLICAOF", "NO", "ONE")
	n.set("redis.test:6379", after.Addr())
	before.Kill()
	locktest.Renew(t, l)
	release(t, l)
	if got := locktest.Do(t, after, "EXISTS", locktest.LockKey("job")); got != int64(0) {
		t.Error("the lock is still there")
	}
	if slices.ContainsFunc(n.dialed, func(addr string) bool { return addr != "redis.test:6379" }) {
		t.Errorf("dialled: %q", n.dialed)
	}
}

func port(t *testing.T, s *redistest.Server) string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

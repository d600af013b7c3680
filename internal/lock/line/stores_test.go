package line_test

import (
	"errors"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A place is a store of one kind, with servers of its own.
type place struct {
	cfg lock.Servers

	// at is the server that has the lock of a name, as long as nothing has moved it.
	at func(name string) *redistest.Server
}

func (p place) open(t *testing.T) lock.Store {
	t.Helper()
	p.cfg.Prefix = lock.DefaultPrefix
	s, err := line.Open(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func always(s *redistest.Server) func(string) *redistest.Server {
	return func(string) *redistest.Server { return s }
}

func serverPlace(s *redistest.Server, url string) place {
	return place{lock.Servers{URLs: []string{url}}, always(s)}
}

func withTLS(cfg lock.Servers, s *redistest.Server) lock.Servers {
	cfg.CA, cfg.Cert, cfg.Key = s.CA(), s.Cert(), s.Key()
	return cfg
}

func sentinelPlace(s *redistest.Sentinel) place {
	return place{lock.Servers{URLs: []string{s.URL()}}, always(s.Data[0])}
}

func clusterPlace(c *redistest.Cluster) place {
	return place{lock.Servers{URLs: []string{c.URL()}}, func(name string) *redistest.Server {
		return c.Masters[c.Owner(wire.KeysOf(lock.DefaultPrefix, name, "").Lock)]
	}}
}

// places are the stores that a company has.
var places = []struct {
	name  string
	start func(*testing.T) place
}{
	{"one server", func(t *testing.T) place {
		s := redistest.Start(t, redistest.Options{Password: "p/w #1"})
		return serverPlace(s, s.URL())
	}},
	{"unix socket", func(t *testing.T) place {
		s := redistest.Start(t, redistest.Options{})
		return serverPlace(s, "unix://"+s.Socket())
	}},
	{"TLS", func(t *testing.T) place {
		s := redistest.Start(t, redistest.Options{TLS: true, Mutual: true, Password: "pw"})
		p := serverPlace(s, s.URL())
		p.cfg = withTLS(p.cfg, s)
		return p
	}},
	{"user", func(t *testing.T) place {
		s := redistest.Start(t, redistest.Options{Users: []string{"alice on >a:b@c resetchannels " + lock.MinimalACL +
			" " + lock.WaitingACL}})
		return serverPlace(s, "redis://alice:a%3Ab%40c@"+s.Addr())
	}},
	{"Sentinel", func(t *testing.T) place {
		return sentinelPlace(redistest.StartSentinel(t, redistest.SentinelOptions{
			Data: redistest.Options{Password: "master's"}, SentinelPassword: "the sentinels'", Replicas: 1}))
	}},
	{"Sentinel with TLS", func(t *testing.T) place {
		s := redistest.StartSentinel(t, redistest.SentinelOptions{Data: redistest.Options{TLS: true, Mutual: true}})
		p := sentinelPlace(s)
		p.cfg = withTLS(p.cfg, s.Data[0])
		return p
	}},
	{"Cluster", func(t *testing.T) place {
		return clusterPlace(redistest.StartCluster(t,
			redistest.ClusterOptions{Data: redistest.Options{Password: "pw"}}))
	}},
	{"Cluster with TLS", func(t *testing.T) place {
		c := redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{TLS: true, Mutual: true}})
		p := clusterPlace(c)
		p.cfg = withTLS(p.cfg, c.Masters[0])
		return p
	}},
}

// promises are what each of them keeps.
var promises = []struct {
	name string
	test func(*testing.T, place)
}{
	{"a lock is held, renewed and released", keepsALock},
	{"a busy lock says who holds it", saysWhoHolds},
	{"a lost lock is noticed and another's left alone", noticesALoss},
	{"a cut connection is replaced", survivesACutConnection},
	{"the line is served in order and the fence grows", servesTheLine},
}

func TestEachStoreKeepsThePromises(t *testing.T) {
	t.Parallel()
	for _, kind := range places {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := kind.start(t)
			for _, promise := range promises {
				t.Run(promise.name, func(t *testing.T) { promise.test(t, p) })
			}
		})
	}
}

func keepsALock(t *testing.T, p place) {
	srv, key := p.at("kept"), locktest.LockKey("kept")
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("kept"))
	for range 3 {
		locktest.Do(t, srv, "PEXPIRE", key, 10_000) // most of a ttl has passed
		locktest.Renew(t, l)
		if left := locktest.Do(t, srv, "PTTL", key).(int64); left < 20_000 {
			t.Errorf("%d ms left after a renewal", left)
		}
	}
	release(t, l)
	if got := locktest.Do(t, srv, "EXISTS", key); got != int64(0) {
		t.Error("the lock is still there")
	}
}

func saysWhoHolds(t *testing.T, p place) {
	s := p.open(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("held"))
	_, err := s.Acquire(t.Context(), locktest.RequestFor("held"))
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.String() != "web-3:4121 (alice, php)" || held.TTL <= 0 {
		t.Errorf("%v", err)
	}
	release(t, l)
}

func noticesALoss(t *testing.T, p place) {
	srv, key := p.at("lost"), locktest.LockKey("lost")
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("lost"))
	locktest.Do(t, srv, "DEL", key)
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrLost) ||
		errors.Is(err, lock.ErrTaken) {
		t.Errorf("without a key: %v", err)
	}
	locktest.Do(t, srv, "SET", key, "another's")
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("with another's: %v", err)
	}
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrLost) {
		t.Errorf("released: %v", err)
	}
	if got := locktest.Do(t, srv, "GET", key); got != "another's" {
		t.Errorf("the key is %v", got)
	}
	locktest.Do(t, srv, "DEL", key)
}

func survivesACutConnection(t *testing.T, p place) {
	srv := p.at("cut")
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("cut"))
	locktest.Do(t, srv, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	locktest.Renew(t, l)
	release(t, l)
	if got := locktest.Do(t, srv, "EXISTS", locktest.LockKey("cut")); got != int64(0) {
		t.Error("the lock is still there")
	}
}

func servesTheLine(t *testing.T, p place) {
	srv, s := p.at("line"), p.open(t)
	held := locktest.Acquire(t, s, locktest.RequestFor("line"))
	first, _ := park(t, srv, s, waits("line", locktest.Patience), 1)
	second, _ := park(t, srv, s, waits("line", locktest.Patience), 2)
	release(t, serve(t, held, first, second))
	keys := locktest.Do(t, srv, "KEYS", locktest.LockKey("line")+"*").([]any)
	if len(keys) != 1 || !strings.HasSuffix(keys[0].(string), ":fence") {
		t.Errorf("left behind: %v", keys)
	}
}

package server_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/simulation/server"
)

// A served server is one that real clients reach, one after another.
type served struct {
	*server.Server
	t  *testing.T
	mu sync.Mutex
	on func(request []byte) // sees what arrives
}

func serve(t *testing.T, on func([]byte)) *served {
	return &served{Server: server.New(time.Now), t: t, on: on}
}

// dial connects to it, whatever the address.
func (s *served) dial(context.Context, string, string) (net.Conn, error) {
	client, conn := net.Pipe()
	s.t.Cleanup(func() { client.Close() })
	out := make(chan []byte, 1000)
	s.mu.Lock()
	c := s.Connect(func(b []byte) { out <- b })
	s.mu.Unlock()
	go func() {
		for b := range out {
			conn.Write(b)
		}
		conn.Close()
	}()
	go s.read(conn, c, out)
	return client, nil
}

func (s *served) read(conn net.Conn, c *server.Conn, out chan<- []byte) {
	buf := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buf)
		s.mu.Lock()
		if err != nil {
			c.Close()
			close(out)
			s.mu.Unlock()
			return
		}
		if s.on != nil {
			s.on(buf[:n])
		}
		if reply := c.Feed(buf[:n]); len(reply) > 0 {
			out <- reply
		}
		s.mu.Unlock()
	}
}

func (s *served) servers() lock.Servers {
	return lock.Servers{URLs: []string{"redis://model:1"}, Prefix: lock.DefaultPrefix, Dial: s.dial}
}

func TestARealClientGetsTheLockRenewsItAndGivesItBack(t *testing.T) {
	s := serve(t, nil)
	store := opened(t, s)
	held := locktest.Acquire(t, store, locktest.RequestFor("job"))
	locktest.Renew(t, held)
	locktest.MustBeBusy(t, store, "job")
	locktest.Must(t, held.Release(t.Context(), lock.ReleaseRequest{}))
	if value, there := s.Get(locktest.LockKey("job")); there {
		t.Errorf("left: %s", value)
	}
}

func TestARealClientWaitsAndIsCalled(t *testing.T) {
	s := serve(t, nil)
	store := opened(t, s)
	held := locktest.Acquire(t, store, locktest.RequestFor("job"))
	got := make(chan error, 1)
	waits := locktest.RequestFor("job")
	waits.Wait.Limit = lock.Forever
	go func() {
		l, err := store.Acquire(t.Context(), waits)
		if err == nil {
			err = l.Release(t.Context(), lock.ReleaseRequest{})
		}
		got <- err
	}()
	locktest.Until(t, "somebody waits", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		n, _ := s.Do("ZCARD", locktest.LockKey("job")+":queue")
		return n == int64(1)
	})
	locktest.Must(t, held.Release(t.Context(), lock.ReleaseRequest{}))
	locktest.Must(t, <-got)
}

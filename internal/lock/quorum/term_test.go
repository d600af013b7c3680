package quorum

import (
	"context"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// oneMaster is a master of a quorum over a real server, and its server.
func oneMaster(t *testing.T, req lock.Request) (*redisMaster, *redistest.Server) {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{})
	cfg := lock.Servers{Prefix: lock.DefaultPrefix, Durable: true}
	src, err := link.NewSource(cfg, srv.URL())
	locktest.Must(t, err)
	m := newRedisMaster(context.Background(), src, cfg, 0, req)
	m.steps = stepsOf(t)
	t.Cleanup(m.close)
	return m, srv
}

func mustGrant(t *testing.T, m *redisMaster, b term) vote {
	t.Helper()
	v, err := m.grant(locktest.Limited(t, locktest.Patience), b, time.Now().UnixMilli())
	locktest.Must(t, err)
	if v.kind != granted {
		t.Fatalf("term %s is answered %+v", b, v)
	}
	return v
}

func TestAReleaseIntoACoolDownIsRepeatedAtAFullMaster(t *testing.T) {
	t.Parallel()
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 1})
	rest := releaseRequest{ReleaseRequest: lock.ReleaseRequest{Keep: time.Minute}}
	_, err := m.release(locktest.Limited(t, locktest.Patience), term{round: 1}.last(), rest)
	locktest.Must(t, err)
	locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
	if err := m.giveUp(locktest.Limited(t, locktest.Patience), term{round: 1}.last(), rest); err != nil {
		t.Errorf("repeated: %v", err)
	}
}

func TestAFenceIsBumpedForItsTermAlone(t *testing.T) {
	t.Parallel()
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	fence := mustGrant(t, m, term{round: 2}).fence
	for _, b := range []term{{round: 1}, {round: 3}, {round: 2, repair: 1}} {
		if done, err := m.bump(locktest.Limited(t, locktest.Patience), b, fence+100); done || err != nil {
			t.Errorf("bumped for term %s, %v", b, err)
		}
	}
	if done, err := m.bump(locktest.Limited(t, locktest.Patience), term{round: 2}, fence+5); !done || err != nil {
		t.Errorf("not bumped, %v", err)
	}
	locktest.Do(t, srv, "SET", "redlockrun:{job}", "other")
	if done, err := m.bump(locktest.Limited(t, locktest.Patience), term{round: 2}, fence+100); done || err != nil {
		t.Errorf("bumped for a lock that is another's, %v", err)
	}
	locktest.Do(t, srv, "DEL", "redlockrun:{job}")
	if done, err := m.bump(locktest.Limited(t, locktest.Patience), term{round: 2}, fence+100); done || err != nil {
		t.Errorf("bumped for a lock that has lapsed, %v", err)
	}
	if next := mustGrant(t, m, term{round: 3}).fence; next < fence+6 || next > fence+99 && next < time2000 {
		t.Errorf("the next fence is %d", next)
	}
}

// time2000 is less than any reading of a clock in ms that a fence is made of.
const time2000 = 946684800_000

func TestARenewalComparesTheWholeTerm(t *testing.T) {
	t.Parallel()
	m, _ := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 2})
	for _, test := range []struct {
		b    term
		want wire.Ownership
	}{
		{term{round: 2}, wire.Own}, {term{round: 1}, wire.OwnNewer}, {term{round: 2, repair: 1}, wire.OwnOlder},
		{term{round: 3}, wire.OwnOlder},
	} {
		if got, _, err := m.renew(locktest.Limited(t, locktest.Patience), test.b); got != test.want || err != nil {
			t.Errorf("term %s: %d, %v, want %d", test.b, got, err, test.want)
		}
	}
}

func TestALateUndoLeavesALaterRoundAlone(t *testing.T) {
	t.Parallel()
	m, _ := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 2})
	if s, err := m.release(locktest.Limited(t, locktest.Patience), term{round: 1}.last(),
		releaseRequest{}); s == wire.Own || err != nil {
		t.Errorf("round 1 released what round 2 has: %v", err)
	}
	if s, _, err := m.renew(locktest.Limited(t, locktest.Patience), term{round: 2}); s != wire.Own || err != nil {
		t.Errorf("round 2: %d, %v", s, err)
	}
	locktest.Must(t, m.giveUp(locktest.Limited(t, locktest.Patience), term{round: 2}.last(), releaseRequest{}))
	if v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 2},
		time.Now().UnixMilli()); v.kind != revoked || err != nil {
		t.Errorf("a round that was given up is answered %+v, %v", v, err)
	}
	mustGrant(t, m, term{round: 3})
}

func TestALateOrderIsOlder(t *testing.T) {
	t.Parallel()
	m, _ := oneMaster(t, locktest.RequestFor("job"))
	mustGrant(t, m, term{round: 1})
	for _, test := range []struct {
		b    term
		want wire.Ownership
	}{{term{round: 1, repair: 2}, wire.Own}, {term{round: 1, repair: 1}, wire.OwnNewer}} {
		if got, err := m.repair(locktest.Limited(t, locktest.Patience), test.b, 1, 0); got != test.want || err != nil {
			t.Errorf("term %s: %d, %v, want %d", test.b, got, err, test.want)
		}
	}
	if v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 1},
		time.Now().UnixMilli()); v.kind != revoked || err != nil {
		t.Errorf("the round that was repaired since is answered %+v, %v", v, err)
	}
}

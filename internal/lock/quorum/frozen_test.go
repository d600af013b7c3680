package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

func frozen(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSuffix(locktest.Frozen(t, "quorum", name), "\n")
}

// TestFreeze writes what this release sends and leaves in a master, if that is wanted.
func TestFreeze(t *testing.T) {
	if !locktest.Freezing() {
		return
	}
	for _, step := range []string{"grant", "bump", "renew", "repair", "release"} {
		locktest.Freeze(t, "quorum", step+".lua", presentText(step))
	}
	req := locktest.RequestFor("job")
	req.Holder = locktest.FrozenHolder()
	m, srv := oneMaster(t, req)
	write := func(name, key string) {
		locktest.Freeze(t, "quorum", name, locktest.Still(locktest.Do(t, srv, "GET", key)))
	}
	mustGrant(t, m, term{round: 1})
	write("lock.json", jobKey)
	write("fence", jobFence)
	_, err := m.release(locktest.Limited(t, locktest.Patience), term{round: 1}.last(),
		releaseRequest{ReleaseRequest: lock.ReleaseRequest{Keep: time.Hour}})
	locktest.Must(t, err)
	write("lock-ended.json", jobKey)
	locktest.Must(t, m.giveUp(locktest.Limited(t, locktest.Patience), term{round: 1}.last(), releaseRequest{}))
	write("tombstone", m.keys.Tombstone)
}

func TestFrozenRecordsAreRead(t *testing.T) {
	locktest.Advise(t)
	req := locktest.RequestFor("job")
	req.Holder = locktest.FrozenHolder()
	owner, srv := oneMaster(t, req)
	other := *owner
	other.req.Holder.Run = strings.Replace(other.req.Holder.Run, "01K", "01M", 1)
	other.record = wire.RecordOf(other.req.Holder).String()
	want := locktest.FrozenHolder()
	want.Protocol = 1
	for _, ended := range []bool{false, true} {
		name := "lock.json"
		if ended {
			name, want.Ended = "lock-ended.json", time.UnixMilli(1763790000123)
		}
		locktest.Do(t, srv, "SET", jobKey, frozen(t, name), "PX", 60_000)
		v, err := other.grant(locktest.Limited(t, locktest.Patience), term{round: 1}, time.Now().UnixMilli())
		if err != nil || v.kind != refused || v.held.Holder != want || v.held.Since.IsZero() != ended {
			t.Errorf("%s is read as %+v, %v", name, v, err)
		}
		mine := map[bool]wire.Ownership{false: wire.Own, true: wire.Others}[ended]
		if s, _, err := owner.renew(locktest.Limited(t, locktest.Patience), term{round: 1}); s != mine || err != nil {
			t.Errorf("%s is renewed: %d, %v", name, s, err)
		}
	}
}

func TestFrozenFencesAreExceeded(t *testing.T) {
	locktest.Advise(t)
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	locktest.Do(t, srv, "SET", jobFence, "9"+frozen(t, "fence"))
	var last int64
	fmt.Sscan("9"+frozen(t, "fence"), &last)
	if v := mustGrant(t, m, term{round: 1}); v.fence != last+1 {
		t.Errorf("fence %d after %d", v.fence, last)
	}
}

func TestFrozenTombstonesAreHeeded(t *testing.T) {
	locktest.Advise(t)
	m, srv := oneMaster(t, locktest.RequestFor("job"))
	locktest.Do(t, srv, "SET", m.keys.Tombstone, frozen(t, "tombstone"))
	if v, err := m.grant(locktest.Limited(t, locktest.Patience), term{round: 1},
		time.Now().UnixMilli()); v.kind != revoked || err != nil {
		t.Errorf("%+v, %v", v, err)
	}
	mustGrant(t, m, term{round: 2})
}

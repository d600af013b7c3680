package redistest_test

import (
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

func TestClusterMovesASlotWithItsKeys(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{Password: "pw"}})
	for _, key := range []string{"a", "123456789", "redlockrun:{job}:fence", "{}x", "x{", "\x00\xff"} {
		if slot, err := c.Masters[0].Do("CLUSTER", "KEYSLOT", key); err != nil || slot != int64(redistest.Slot(key)) {
			t.Errorf("slot of %q: %d, the server says %v, %v", key, redistest.Slot(key), slot, err)
		}
	}
	from := c.Owner("a")
	to := (from + 1) % 3
	if _, err := c.Masters[from].Do("SET", "a", "1"); err != nil {
		t.Fatal(err)
	}
	m, err := c.BeginMigration("a", c.Masters[from], c.Masters[to])
	if err != nil {
		t.Fatal(err)
	}
	if err := m.MoveKeys(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Masters[from].Do("GET", "a"); err == nil || !strings.HasPrefix(err.Error(), "ASK ") {
		t.Errorf("got %v", err)
	}
	if err := m.End(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, c.Masters[to], "a"); got != "1" {
		t.Errorf("a = %v", got)
	}
}

func TestClusterFailsOverWhenTold(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{TLS: true, Mutual: true},
		Replicas: 1})
	place := c.Owner("a")
	if _, err := c.Masters[place].Do("SET", "a", "1"); err != nil {
		t.Fatal(err)
	}
	if err := redistest.Replicated(c.Masters[place], c.Replicas[place]); err != nil {
		t.Fatal(err)
	}
	c.Masters[place].Kill()
	if err := c.Failover(place); err != nil {
		t.Fatal(err)
	}
	if got := get(t, c.Replicas[place], "a"); got != "1" {
		t.Errorf("a = %v", got)
	}
}

package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// Each store says of a real run what the run says of itself.
func TestWhatAStoreWritesIsRead(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) lock.Servers{
		"one server": func(t *testing.T) lock.Servers {
			return lock.Servers{URLs: []string{redistest.Start(t, redistest.Options{Password: "pw"}).URL()}}
		},
		"Sentinel": func(t *testing.T) lock.Servers {
			return lock.Servers{URLs: []string{redistest.StartSentinel(t, redistest.SentinelOptions{}).URL()}}
		},
		"Cluster with TLS": func(t *testing.T) lock.Servers {
			c := redistest.StartCluster(t, redistest.ClusterOptions{Data: redistest.Options{TLS: true, Mutual: true}})
			return lock.Servers{URLs: []string{c.URL()}, CA: c.Masters[0].CA(), Cert: c.Masters[0].Cert(),
				Key: c.Masters[0].Key()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := start(t)
			cfg.Prefix = "jobs:"
			readsARun(t, cfg)
		})
	}
}

func readsARun(t *testing.T, cfg lock.Servers) {
	store, err := line.Open(cfg)
	locktest.Must(t, err)
	defer store.Close()
	s, err := line.OpenInspector(cfg, lock.Inspection{})
	locktest.Must(t, err)
	req := locktest.RequestFor("a{b}%")
	req.History, req.Slot = 50, lock.Slot{Name: "5m 2026-03-01T12:05Z", Tries: 2}
	l := locktest.Acquire(t, store, req)
	j := job(t, s, "a{b}%")
	unread(t, j)
	if j.State != lock.StateRunning || j.Holder.Run != req.Holder.Run || j.Open.Run != req.Holder.Run ||
		j.Fence != l.Fence() ||
		len(j.Slots) != 1 || j.Slots[0].Begun.Run != req.Holder.Run || j.Open.Slot != req.Slot.Name || j.Left <= 0 ||
		j.Left > time.Minute {
		t.Errorf("%+v", j)
	}
	failed := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 3, Attempts: 1}}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), failed))
	j = job(t, s, "a{b}%")
	unread(t, j)
	if j.State != lock.StateIdle || j.LastEnd.Status != 3 || j.LastEnd.End != lock.EndFailed || len(j.Runs) != 1 ||
		len(j.Slots[0].Failures) != 1 ||
		j.Counts[lock.EndFailed] != 1 || j.Runs[0] != j.LastEnd {
		t.Errorf("%+v", j)
	}
	runs, err := s.Runs(t.Context(), "a{b}%", true)
	if locktest.Must(t, err); len(runs) != 1 || runs[0] != j.LastEnd {
		t.Errorf("%+v", runs)
	}
	names, err := s.Names(t.Context(), true)
	if locktest.Must(t, err); !slices.Equal(names, []string{"a{b}%"}) {
		t.Errorf("%q", names)
	}
}

// fillCluster writes n jobs into a Cluster, and returns their names.
func fillCluster(t *testing.T, c *redistest.Cluster, n int) (names []string) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("job-%03d", i)
		do(t, c.Masters[c.Owner(keys(name).Lock)], "SET", keys(name).Lock, record(runA, 0), "PX", 60000)
		names = append(names, name)
	}
	return names
}

func TestTheJobsOfAClusterAreReadFromAllItsNodes(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	names := fillCluster(t, c, 300)
	s := inspecting(t, c.URL())
	began := time.Now()
	jobs, err := s.Jobs(t.Context(), names)
	locktest.Must(t, err)
	t.Logf("300 jobs in %v", time.Since(began))
	for i, j := range jobs {
		if unread(t, j); j.Name != names[i] || j.State != lock.StateRunning {
			t.Fatalf("%+v", j)
		}
	}
	if found, err := s.Names(t.Context(), true); !slices.Equal(found, names) || err != nil {
		t.Errorf("%d names, %v", len(found), err)
	}
	if jobs, err := s.Jobs(t.Context(), nil); len(jobs) != 0 || err != nil {
		t.Errorf("%d jobs of none, %v", len(jobs), err)
	}
}

func TestANodeOfAClusterThatIsDownHidesOnlyItsOwnJobs(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	names := fillCluster(t, c, 30)
	s := inspecting(t, c.URL())
	var silent []string
	s.Timeout, s.OnSilent = time.Second, func(e *lock.UnavailableError) { silent = append(silent, e.Error()) }
	c.Masters[2].Kill()
	jobs, err := s.Jobs(t.Context(), names)
	locktest.Must(t, err)
	for _, j := range jobs {
		if down := c.Owner(keys(j.Name).Lock) == 2; down != (j.State == "") || down != (len(j.Unread) > 0) {
			t.Errorf("%+v", j)
		}
	}
	if len(silent) != 1 || !strings.Contains(silent[0], c.Masters[2].Addr()) {
		t.Errorf("silent: %q", silent)
	}
}

func TestARightThatANodeOfAClusterRefusesIsNamed(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	names := fillCluster(t, c, 30)
	for _, m := range c.Masters {
		permitted(t, m, strings.Fields(strings.ReplaceAll(lock.ReaderACL, "+lrange", "+ping"))...)
	}
	permitted(t, c.Masters[1], strings.Fields(strings.ReplaceAll(lock.ReaderACL, "+hlen", "+ping"))...)
	s := inspecting(t, strings.Replace(c.URL(), "://", "://reader:pw@", 1))
	jobs, err := s.Jobs(t.Context(), names)
	locktest.Must(t, err)
	for _, j := range jobs {
		if j.State != lock.StateRunning {
			t.Errorf("%+v", j)
		}
		if c.Owner(keys(j.Name).Lock) == 1 {
			unread(t, j, "the slots: the user may not use HLEN")
		} else {
			unread(t, j)
		}
	}
}

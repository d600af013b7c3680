package quorum

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// inspecting reads what a majority of some servers has, and notes who is silent.
func inspecting(t *testing.T, all servers) (in lock.Inspector, silent *[]string) {
	t.Helper()
	silent = new([]string)
	in, err := OpenInspector(lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix}, lock.Inspection{
		Timeout: 2 * time.Second, OnSilent: func(e *lock.UnavailableError) { *silent = append(*silent, e.Error()) },
	})
	locktest.Must(t, err)
	return in, silent
}

func TestWhatAQuorumHasIsReadWhileAMajorityAnswers(t *testing.T) {
	t.Parallel()
	all := servers(redistest.StartMasters(t, 3, redistest.Options{}).Servers)
	store, err := Open(lock.Servers{URLs: all.urls(), Prefix: lock.DefaultPrefix, Durable: true})
	locktest.Must(t, err)
	defer store.Close()
	in, silent := inspecting(t, all)
	req := locktest.RequestFor("job")
	l := locktest.Acquire(t, store, req)
	check := func(what string, wantSilent int) {
		t.Helper()
		*silent = nil
		began := time.Now()
		j, err := in.Job(t.Context(), "job")
		locktest.Must(t, err)
		if j.State != lock.StateRunning || j.Holder.Run != req.Holder.Run || j.Fence != l.Fence() || j.Unread != nil ||
			len(*silent) != wantSilent {
			t.Errorf("%s: %+v, silent: %q", what, j, *silent)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: read in %v", what, took)
		}
	}
	locktest.Until(t, "the lock at each master", func() bool {
		j, err := in.Jobs(t.Context(), []string{"job"})
		return err == nil && j[0].State == lock.StateRunning && everywhere(all)
	})
	check("all answer", 0)
	locktest.Must(t, all[0].Signal(syscall.SIGSTOP))
	check("one is frozen", 1)
	locktest.Must(t, all[0].Signal(syscall.SIGCONT))
	all[0].Kill()
	check("one is gone", 1)
	if !strings.Contains((*silent)[0], all[0].Addr()) {
		t.Errorf("silent: %q", *silent)
	}
	all[1].Kill()
	_, err = in.Jobs(t.Context(), []string{"job"})
	e := locktest.MustBeUnavailable(t, err)
	if !strings.Contains(e.Error(), "2 of 3 are needed") || !strings.Contains(e.Error(), all[1].Addr()) {
		t.Errorf("%v", e)
	}
}

func everywhere(all servers) bool {
	for _, s := range all {
		if v, err := s.Do("EXISTS", locktest.LockKey("job")); err != nil || v != int64(1) {
			return false
		}
	}
	return true
}

func TestNamesAndRunsOfAQuorumAreThoseOfAllItsMasters(t *testing.T) {
	t.Parallel()
	all := servers(redistest.StartMasters(t, 3, redistest.Options{}).Servers)
	k := wire.KeysOf(lock.DefaultPrefix, "a", "")
	ok := lock.Entry{Run: runA, End: lock.EndOk, Ended: now}
	gone := lock.Entry{Run: runB, End: lock.EndVanished, Ended: now, Status: -1}
	locktest.Do(t, all[0], "ZADD", k.Jobs, 1, "a", 1, "b")
	locktest.Do(t, all[1], "ZADD", k.Jobs, 1, "b")
	locktest.Do(t, all[2], "SET", wire.KeysOf(lock.DefaultPrefix, "c", "").Fence, 1)
	locktest.Do(t, all[0], "RPUSH", k.Runs, wire.EntryText(ok), wire.EntryText(gone))
	locktest.Do(t, all[2], "RPUSH", k.Runs, wire.EntryText(ok))
	in, silent := inspecting(t, all)
	for scan, want := range map[bool][]string{false: {"a", "b"}, true: {"a", "b", "c"}} {
		if names, err := in.Names(t.Context(), scan); err != nil || !slices.Equal(names, want) {
			t.Errorf("%q, %v", names, err)
		}
	}
	if runs, err := in.Runs(t.Context(), "a", true); err != nil || len(runs) != 1 || runs[0].Run != runA ||
		len(*silent) > 0 {
		t.Errorf("%+v, %v, silent: %q", runs, err, *silent)
	}
}

func TestAnInspectorRefusesWhatAStoreRefuses(t *testing.T) {
	for _, urls := range [][]string{
		{"redis://a", "redis://b"},
		{"redis://a", "redis://b", "redis://a"},
		{"redis+sentinel://a/m", "redis://b", "redis://c"},
	} {
		_, stored := Open(lock.Servers{URLs: urls})
		_, read := OpenInspector(lock.Servers{URLs: urls}, lock.Inspection{})
		if stored == nil || read == nil || stored.Error() != read.Error() {
			t.Errorf("%q: %v, but %v", urls, read, stored)
		}
	}
}

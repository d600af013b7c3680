package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

func openLocal(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "locks"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func letGo(t *testing.T, l lock.Lease, keep time.Duration) {
	t.Helper()
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: keep}); err != nil {
		t.Fatal(err)
	}
}

func TestLocalLockIsHeldAndReleased(t *testing.T) {
	s := openLocal(t)
	req := locktest.RequestFor("job")
	l := locktest.Acquire(t, s, req)
	held := locktest.MustBeBusy(t, s, "job")
	if held.Holder.Run != req.Holder.Run || held.TTL != 0 || held.Key != filepath.Join(s.Address(), "job.lock") {
		t.Errorf("%+v", held)
	}
	if until, err := l.Renew(t.Context()); err != nil || time.Until(until) < 1000*time.Hour {
		t.Errorf("renewed until %s, %v", until, err)
	}
	letGo(t, l, 0)
	next := locktest.Acquire(t, s, locktest.RequestFor("job"))
	if next.Fence() <= l.Fence() || l.Fence() < time.Now().Add(-time.Hour).UnixMilli() {
		t.Errorf("fence %d after %d", next.Fence(), l.Fence())
	}
	letGo(t, next, 0)
}

func TestLocalLockIsHeldByWhoeverInheritsTheFile(t *testing.T) {
	s := openLocal(t)
	for _, killed := range []bool{true, false} {
		f, err := s.File("job")
		if err != nil {
			t.Fatal(err)
		}
		guard, err := syscall.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		l := locktest.Acquire(t, s, locktest.RequestFor("job"))
		if killed {
			l.(*localLease).file.Close() // as the kernel does when the holder is killed
			locktest.MustBeBusy(t, s, "job")
			syscall.Close(guard)
		} else {
			letGo(t, l, 0)
			defer syscall.Close(guard)
		}
		letGo(t, locktest.Acquire(t, s, locktest.RequestFor("job")), 0)
	}
}

func TestLocalWaiterGetsTheLock(t *testing.T) {
	s := openLocal(t)
	first := locktest.Acquire(t, s, locktest.RequestFor("job"))
	for _, wait := range []lock.Wait{
		{Limit: lock.Forever}, {Limit: locktest.Patience}, {Retries: 10_000, Delay: 10 * time.Millisecond},
	} {
		var once sync.Once
		req := locktest.RequestFor("job")
		req.Wait = wait
		req.OnBusy = func(held *lock.HeldError) {
			once.Do(func() { go first.Release(context.Background(), lock.ReleaseRequest{}) })
		}
		first = locktest.Acquire(t, s, req)
	}
	letGo(t, first, 0)
}

func TestLocalWaiterGivesUp(t *testing.T) {
	s := openLocal(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	req := locktest.RequestFor("job")
	req.Wait.Limit = 20 * time.Millisecond
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.HeldError)) {
		t.Errorf("at the limit: %v", err)
	}
	signal := errors.New("signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	req.Wait.Limit = lock.Forever
	req.OnBusy = func(*lock.HeldError) { cancel(signal) }
	if _, err := s.Acquire(ctx, req); err != signal {
		t.Errorf("after a signal: %v", err)
	}
	req.OnBusy = nil
	req.Enclosing = []string{locktest.MustBeBusy(t, s, "job").Holder.Run}
	if _, err := s.Acquire(t.Context(), req); !errors.As(err, new(*lock.NestedError)) {
		t.Errorf("inside of the holder: %v", err)
	}
	letGo(t, l, 0)
	// Those who gave up, and are in the kernel's queue still, hand the lock on.
	req = locktest.RequestFor("job")
	req.Wait.Limit = locktest.Patience
	letGo(t, locktest.Acquire(t, s, req), 0)
}

func TestLocalMinHoldIsHonouredByOthers(t *testing.T) {
	s := openLocal(t)
	letGo(t, locktest.Acquire(t, s, locktest.RequestFor("job")), time.Hour)
	if held := locktest.MustBeBusy(t, s, "job"); held.Holder.Ended.IsZero() || held.TTL < 30*time.Minute {
		t.Errorf("%+v", held)
	}
	short := locktest.Acquire(t, s, locktest.RequestFor("other"))
	began := time.Now()
	letGo(t, short, 50*time.Millisecond)
	req := locktest.RequestFor("other")
	req.Wait.Limit = locktest.Patience
	l := locktest.Acquire(t, s, req)
	if waited := time.Since(began); waited < 48*time.Millisecond { // both ends are whole ms
		t.Errorf("min-hold of 50 ms was over after %s", waited)
	}
	letGo(t, l, 0)
}

func TestLocalLockIsLostWithItsFile(t *testing.T) {
	s := openLocal(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	if err := os.Remove(filepath.Join(s.Address(), "job.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Renew(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("renewed: %v", err)
	}
	if err := l.Release(t.Context(), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrLost) {
		t.Errorf("released: %v", err)
	}
}

func TestPlantedFilesAreRefused(t *testing.T) {
	s := openLocal(t)
	path := filepath.Join(s.Address(), "job.lock")
	elsewhere := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(elsewhere, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, plant := range map[string]func() error{
		"a symbolic link":                func() error { return os.Symlink(elsewhere, path) },
		"not a regular file":             func() error { return syscall.Mkfifo(path, 0o600) },
		"a file with a second hard link": func() error { return os.Link(elsewhere, path) },
		"a directory":                    func() error { return os.Mkdir(path, 0o700) },
		"a file of another program":      func() error { return os.WriteFile(path, []byte("precious"), 0o600) },
	} {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
		var not *lock.NotLockError
		if !errors.As(err, &not) || not.What != what || not.Key != path {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "precious" {
		t.Errorf("the victim is %q, %v", text, err)
	}
}

// As root the tests can give a file to another user; otherwise they use a file of root.
func TestFilesAndDirectoriesOfOtherUsersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		if _, err := Open("/"); err != nil {
			t.Errorf("root's directory: %v", err)
		}
		return
	}
	s := openLocal(t)
	path := filepath.Join(s.Address(), "job.lock")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, new(*lock.NotLockError)) {
		t.Errorf("another's file: %v", err)
	}
	if err := os.Chown(s.Address(), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Address()); !errors.As(err, new(*lock.ConfigError)) {
		t.Errorf("another's directory: %v", err)
	}
}

func TestTheLockDirectoryMustBeSafe(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{open, file, filepath.Join(dir, "a", "b")} {
		if _, err := Open(dir); !errors.As(err, new(*lock.ConfigError)) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := os.Chmod(open, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(open); err != nil {
		t.Error(err)
	}
}

// Every user may write in /run/lock: one may have planted a link where our directory goes.
func TestAPlantedDirectoryIsRefused(t *testing.T) {
	elsewhere := t.TempDir()
	for _, target := range []string{elsewhere, filepath.Join(elsewhere, "missing"), "/"} {
		parent := t.TempDir()
		if err := os.Symlink(target, filepath.Join(parent, "redlockrun-"+strconv.Itoa(os.Geteuid()))); err != nil {
			t.Fatal(err)
		}
		var refused *lock.ConfigError
		if _, err := openOwn(parent); !errors.As(err, &refused) || refused.Problem != "it is a symbolic link" {
			t.Errorf("a link to %s: %v", target, err)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("made %v, %v", left, err)
	}
	s, err := openOwn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.Address()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("our own: %v, %v", info, err)
	}
}

func TestLocalFileNamesAreUnambiguous(t *testing.T) {
	long := strings.Repeat("x", 255)
	names := []string{
		"a", "A", "a/b", "a%2Fb", "a%2fb", ".", "..", ".a", "a.lock", "é", "a b", "a+b",
		long, long + "x", long[1:], strings.Repeat("é", 256), "a@1", lock.PermitOf("a", 1), lock.GateOf("a"),
		lock.PermitOf(long, 1), lock.PermitOf(long, 64),
	}
	seen := map[string]string{}
	for _, name := range names {
		file := fileName(name)
		if other, ok := seen[file]; ok || len(file) > nameMax || strings.Contains(file, "/") || file[0] == '.' {
			t.Errorf("%q becomes %q, as %q", name, file, other)
		}
		seen[file] = name
	}
	s := openLocal(t)
	for _, name := range names {
		letGo(t, locktest.Acquire(t, s, locktest.RequestFor(name)), 0)
	}
}

func TestTheFileOfAPartShowsItsName(t *testing.T) {
	for name, file := range map[string]string{
		lock.GateOf("a"): "a@gate.lock", lock.PermitOf("a b", 12): "a%20b@12.lock", "a@1": "a%401.lock",
	} {
		if fileName(name) != file || nameOf(file) != name {
			t.Errorf("%q: %q, %q", name, fileName(name), nameOf(file))
		}
	}
	for _, file := range []string{"a@.lock", "a@0.lock", "a@65.lock", "a@1@2.lock", "@1.lock", "a@1", "a%1F1.lock"} {
		if name := nameOf(file); name != "" {
			t.Errorf("%q of %q", name, file)
		}
	}
}

func TestLocalFenceIsReadBeforeItIsWritten(t *testing.T) {
	s := openLocal(t)
	path := filepath.Join(s.Address(), "job.lock")
	r := wire.RecordOf(locktest.RequestFor("job").Holder)
	r.Fence, r.Ended = 1<<53-2, 1
	if err := os.WriteFile(path, []byte(r.String()+"\nrest of a longer line"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	if l.Fence() != 1<<53-1 {
		t.Errorf("fence %d", l.Fence())
	}
	letGo(t, l, 0)
	if _, err := s.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, new(*lock.NotLockError)) {
		t.Errorf("beyond the last fence: %v", err)
	}
}

// Many at once: never two, each fence larger than the one before.
func TestLocalExcludes(t *testing.T) {
	s := openLocal(t)
	var inside, last atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				req := locktest.RequestFor("job")
				req.Wait.Limit = locktest.Patience
				l, err := s.Acquire(t.Context(), req)
				if err != nil {
					t.Error(err)
					return
				}
				if n, before := inside.Add(1), last.Swap(l.Fence()); n != 1 || l.Fence() <= before {
					t.Errorf("%d inside, fence %d after %d", n, l.Fence(), before)
				}
				inside.Add(-1)
				if err := l.Release(context.Background(), lock.ReleaseRequest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// A user who may rename the directory cannot lead us into another one.
func TestLocalUsesTheDirectoryThatItHasChecked(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "dir"), filepath.Join(parent, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(dir, dir+".old"), os.Symlink(other, dir)); err != nil {
		t.Fatal(err)
	}
	if f, err := s.File("job"); err == nil {
		f.Close()
	}
	if planted, err := os.ReadDir(other); err != nil || len(planted) != 0 {
		t.Errorf("made %v in another directory (%v)", planted, err)
	}
}

func TestLocalBusyAnswerSaysSinceWhenTheLockIsHeld(t *testing.T) {
	locktest.SaysSinceWhen(t, openLocal(t))
}

func TestALocalLeaseCountsASleepOfTheMachine(t *testing.T) {
	locktest.CountsASleep(t, openLocal(t))
}

// Package local keeps locks on this host alone, by flock(2) on a file each.
package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
)

// Local keeps locks on this host alone, by flock(2) on one file each. The
// kernel gives a lock back when the last descriptor of its file is closed, so
// a lock has no ttl and no stale holder.
type Store struct {
	dir string

	at *os.File // the directory, as it was checked

	mu    sync.Mutex
	files map[string]*lockFile // opened by File, not yet acquired
}

// Open returns the store in a directory, which is made, for its user
// alone, if it is absent. An empty dir means /run/lock/redlockrun-UID. The error
// is a *ConfigError: a directory in which others can replace our files is refused.
func Open(dir string) (*Store, error) {
	if dir == "" {
		return openOwn("/run/lock")
	}
	return openDir(dir, 0)
}

// openOwn returns the store in this user's own directory in parent, where any user
// may make a name. Once it is our directory, no other user may replace it.
func openOwn(parent string) (*Store, error) {
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return nil, &lock.ConfigError{Subject: parent, Problem: "there is no such directory", Hint: "name one"}
	}
	dir := ownDir(parent)
	s, err := openDir(dir, syscall.O_NOFOLLOW)
	if info, statErr := os.Lstat(dir); statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &lock.ConfigError{Subject: dir, Problem: "it is a symbolic link", Hint: "name a directory"}
	}
	return s, err
}

func ownDir(parent string) string {
	return filepath.Join(parent, "redlockrun-"+strconv.Itoa(os.Geteuid()))
}

const subjectDir = "the directory of locks"

// openDir keeps the directory open that it has checked: another one that comes into its
// place is not used.
func openDir(dir string, flag int) (*Store, error) {
	path, err := filepath.Abs(dir) // messages name it, if there is one
	if err != nil {
		return nil, &lock.ConfigError{Subject: subjectDir, Problem: lock.Cause(err)}
	}
	dir = path
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &lock.ConfigError{Subject: subjectDir, Problem: lock.Cause(err)}
	}
	open, err := openChecked(dir, flag)
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir, at: open, files: map[string]*lockFile{}}, nil
}

// openChecked opens a directory that is there, unless others can replace our files in it.
func openChecked(dir string, flag int) (*os.File, error) {
	open, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|flag, 0)
	if errors.Is(err, syscall.ENOTDIR) {
		err = errors.New("it is not a directory")
	}
	if err != nil {
		return nil, lock.Shortage(dir, err,
			&lock.ConfigError{Subject: dir, Problem: lock.Cause(err), Hint: "name another directory"})
	}
	if problem := checkDir(open); problem != "" {
		open.Close()
		return nil, &lock.ConfigError{Subject: dir, Problem: problem, Hint: "name another directory"}
	}
	return open, nil
}

func checkDir(dir *os.File) (problem string) {
	info, err := dir.Stat()
	if err != nil {
		return lock.Cause(err)
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.IsDir():
		return "it is not a directory"
	case owner != uint32(os.Geteuid()) && owner != 0:
		return "it belongs to another user"
	case info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
		return "every user may replace files in it"
	}
	return ""
}

// Address is the directory.
func (s *Store) Address() string { return s.dir }

// Close closes the files of locks that were never acquired.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, f := range s.files {
		f.Close()
		delete(s.files, name)
	}
	return s.at.Close()
}

// File opens the file of a lock before it is acquired. A process that inherits the descriptor also
// holds the lock once Acquire has succeeded, until each copy of it is closed or the lease
// released. The errors are those of Acquire.
func (s *Store) File(name string) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	return f.File, nil
}

// open is called with mu held.
func (s *Store) open(name string) (*lockFile, error) {
	if f := s.files[name]; f != nil {
		return f, nil
	}
	f, err := openLockFile(s.at, s.dir, fileName(name))
	if err == nil {
		s.files[name] = f
	}
	return f, err
}

func (s *Store) take(name string) (*lockFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.open(name)
	delete(s.files, name)
	return f, err
}

// Acquire implements Store. Waiting without Retries is done in the kernel's
// queue. TTL in a *HeldError is the rest of a min-hold, else 0.
func (s *Store) Acquire(ctx context.Context, req lock.Request) (lock.Lease, error) {
	if err := req.Complete(); err != nil {
		return nil, err
	}
	f, err := s.take(req.Name)
	if err != nil {
		return nil, err
	}
	lease, err := s.acquire(ctx, req, f)
	if err != nil {
		f.unlock() // a process that inherited the descriptor does not hold it on
		f.Close()
		return nil, err
	}
	return lease, nil
}

func (s *Store) acquire(ctx context.Context, req lock.Request, f *lockFile) (lock.Lease, error) {
	once := func(context.Context, time.Duration) (lock.Lease, error) {
		if err := f.tryLock(); err != nil {
			return nil, s.explain(req, f, err)
		}
		lease, err := s.begin(req, f)
		if err != nil {
			f.unlock()
		}
		return lease, err
	}
	if req.Wait.Retries > 0 || req.Wait.Limit <= 0 {
		return lock.Await(ctx, req, once)
	}
	lease, err := once(ctx, 0)
	if !errors.As(err, new(*lock.HeldError)) {
		return lease, err
	}
	if err := lock.Announce(req, err); err != nil {
		return nil, err
	}
	return s.queue(ctx, req, f)
}

// queue waits in the kernel's queue, and then, with the lock, for the end of
// the last run's min-hold.
func (s *Store) queue(ctx context.Context, req lock.Request, f *lockFile) (lock.Lease, error) {
	limit, cancel := context.WithTimeout(ctx, req.Wait.Limit)
	defer cancel()
	if err := f.waitLock(limit); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, s.explain(req, f, err)
	}
	for {
		lease, err := s.begin(req, f)
		var kept *lock.HeldError
		if !errors.As(err, &kept) {
			return lease, err
		}
		if !lock.Sleep(limit, kept.TTL) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, kept
		}
	}
}

// begin makes this run the holder, the file being locked, or returns a
// *HeldError if the last run's min-hold is not over.
func (s *Store) begin(req lock.Request, f *lockFile) (lock.Lease, error) {
	last, err := f.read()
	if err != nil {
		return nil, s.explain(req, f, err)
	}
	if left := last.Kept(); left > 0 {
		return nil, &lock.HeldError{Name: req.Name, Key: f.path, Holder: last.Holder(), TTL: left}
	}
	r := wire.RecordOf(req.Holder)
	r.At = time.Now().UnixMilli()
	r.Fence = max(last.Fence+1, r.At)
	if r.Fence >= 1<<53 {
		return nil, &lock.NotLockError{Key: f.path, What: "a fence that is not a number below 2^53"}
	}
	if err := f.write(r); err != nil {
		return nil, s.explain(req, f, err)
	}
	return &localLease{store: s, file: f, record: r, clock: req.Clock, began: req.Clock.Now()}, nil
}

// explain says why a file is not ours.
func (s *Store) explain(req lock.Request, f *lockFile, err error) error {
	if errors.As(err, new(*lock.NotLockError)) {
		return err
	}
	if !errors.Is(err, errBusy) {
		return &lock.UnavailableError{Address: s.dir, Err: errors.New(lock.Cause(err))}
	}
	e := &lock.HeldError{Name: req.Name, Key: f.path}
	r, err := f.read()
	if err == nil && r.Run != "" && (r.Ended == 0 || r.Kept() > 0) { // else the new holder is about to write its own
		e.Holder, e.TTL, e.Since = r.Holder(), r.Kept(), r.Since(time.Now().UnixMilli(), req.Clock)
	}
	return e
}

// A localLease is a locked file.
type localLease struct {
	store  *Store
	file   *lockFile
	record wire.Record
	clock  *boottime.Clock
	began  time.Time
}

// Until is as good as never: the kernel keeps the lock while the file is open.
func (l *localLease) Until() time.Time    { return l.began.Add(100 * 365 * 24 * time.Hour) }
func (l *localLease) Fence() int64        { return l.record.Fence }
func (l *localLease) Held() time.Duration { return max(0, l.clock.Now().Sub(l.began)) }

// StopAsked implements lock.Lease: an operator cannot ask.
func (l *localLease) StopAsked() bool { return false }

// Instants implements lock.Lease: the clock is this host's.
func (l *localLease) Instants() lock.Instants {
	at := time.UnixMilli(l.record.At)
	return lock.Instants{Asked: at, At: at, Now: time.Now()}
}

// Renew checks whether the file is still there: once it is removed,
// others lock a new one.
func (l *localLease) Renew(context.Context) (time.Time, error) {
	if l.file.removed() {
		return l.Until(), lock.ErrLost
	}
	return l.Until(), nil
}

// File is the locked file: a process that inherits the descriptor holds the lock, too.
func (l *localLease) File() *os.File { return l.file.File }

// Look implements lock.Looker. The kernel knows who has a file, and nobody pauses it.
func (l *localLease) Look(_ context.Context, names []string) (held []*lock.HeldError, paused *lock.HeldError,
	err error) {
	held = make([]*lock.HeldError, len(names))
	for i, name := range names {
		if held[i], err = l.store.holder(name, l.clock); err != nil {
			return nil, nil, err
		}
	}
	return held, nil, nil
}

// holder is who has a lock; nil if nobody has.
func (s *Store) holder(name string, clock *boottime.Clock) (held *lock.HeldError, err error) {
	req := lock.Request{Name: name, Clock: clock}
	f, err := (&inspector{s.dir, s.at}).open(fileName(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, s.explain(req, nil, err)
	}
	defer f.Close()
	if err = flock(f.File, syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		f.unlock()
		return nil, nil
	}
	if err = s.explain(req, f, err); errors.As(err, &held) {
		return held, nil
	}
	return nil, err
}

// Release also unlocks for the processes that inherited the descriptor.
func (l *localLease) Release(_ context.Context, end lock.ReleaseRequest) error {
	defer l.file.Close()
	defer l.file.unlock()
	if l.file.removed() {
		return lock.ErrLost
	}
	l.record.Ended = time.Now().UnixMilli()
	if end.Keep > 0 {
		l.record.Until = l.record.Ended + lock.Milliseconds(end.Keep)
	}
	if err := l.file.write(l.record); err != nil {
		return &lock.UnavailableError{Address: filepath.Dir(l.file.path), Err: errors.New(lock.Cause(err))}
	}
	return nil
}

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"

	"golang.org/x/sys/unix"
)

// An inspector finds the holders of the files of a directory. There is no ledger.
type inspector struct {
	dir string
	at  *os.File // nil: there is no such directory, and so there are no locks
}

// OpenInspector returns what reads the locks in a directory, which is not made if it is
// absent; its errors are those of Open. It has no entries of runs.
func OpenInspector(dir string) (lock.Inspector, error) {
	flag := 0
	if dir == "" {
		dir, flag = ownDir("/run/lock"), syscall.O_NOFOLLOW
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, &lock.ConfigError{Subject: subjectDir, Problem: lock.Cause(err)}
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return &inspector{dir: path}, nil
	}
	open, err := openChecked(path, flag)
	if err != nil {
		return nil, err
	}
	return &inspector{path, open}, nil
}

// Address is the directory.
func (i *inspector) Address() string { return i.dir }

// Close closes the directory.
func (i *inspector) Close() error {
	if i.at == nil {
		return nil
	}
	return i.at.Close()
}

// mostFiles bounds how many files of a directory are looked at.
const mostFiles = 100_000

// Names implements lock.Inspector. A name that is too long for a file's is not among them.
func (i *inspector) Names(context.Context, bool) (names []string, err error) {
	if i.at == nil {
		return nil, nil
	}
	again, err := i.openAt(".", unix.O_DIRECTORY)
	if err != nil {
		return nil, i.unavailable(err)
	}
	defer again.Close()
	files, err := again.Readdirnames(mostFiles)
	if err != nil && err != io.EOF {
		return nil, i.unavailable(err)
	}
	for _, file := range files {
		if name := nameOf(file); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// openAt opens a file of the directory to be read. It does not hang, follows no link, and
// makes nothing.
func (i *inspector) openAt(name string, flag int) (f *os.File, err error) {
	err = numbered(i.at, func(number int) error {
		fd, err := unix.Openat(number, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flag, 0)
		if err == nil {
			f = os.NewFile(uintptr(fd), filepath.Join(i.dir, name))
		}
		return err
	})
	return f, err
}

// nameOf returns the lock's name for a file, with its part; "" if it is not a lock's file.
func nameOf(file string) string {
	written, ours := strings.CutSuffix(file, ".lock")
	written, part, parted := strings.Cut(written, "@")
	name, err := url.PathUnescape(written)
	if parted {
		name = lock.PartOf(name, part)
	}
	if !ours || err != nil || fileName(name) != file {
		return ""
	}
	return name
}

func (i *inspector) unavailable(err error) error {
	return &lock.UnavailableError{Address: i.dir, Err: errors.New(lock.Cause(err)),
		Denied: errors.Is(err, fs.ErrPermission)}
}

// Jobs implements lock.Inspector.
func (i *inspector) Jobs(_ context.Context, names []string) ([]lock.Job, error) {
	jobs := make([]lock.Job, 0, len(names))
	for _, name := range names {
		jobs = append(jobs, i.job(name))
	}
	return jobs, nil
}

// JobsWithRuns implements lock.Inspector: there are no runs.
func (i *inspector) JobsWithRuns(ctx context.Context, names []string) ([]lock.Job, error) {
	return i.Jobs(ctx, names)
}

// Job implements lock.Inspector.
func (i *inspector) Job(_ context.Context, name string) (lock.Job, error) { return i.job(name), nil }

// Runs implements lock.Inspector: there is no ledger.
func (i *inspector) Runs(context.Context, string, bool) ([]lock.Entry, error) { return nil, nil }

// Outputs implements lock.Inspector: none is kept.
func (i *inspector) Outputs(_ context.Context, names []string, _ int) (all []lock.JobOutputs, err error) {
	for _, name := range names {
		all = append(all, lock.JobOutputs{Name: name})
	}
	return all, nil
}

func (i *inspector) job(name string) lock.Job {
	j := lock.Job{Name: name, Now: time.Now().Truncate(time.Millisecond), State: lock.StateIdle, NoHistory: true}
	if i.at == nil {
		return j
	}
	f, err := i.open(fileName(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return j
	case err == nil:
		defer f.Close()
		err = f.look(&j)
	}
	var wrong *lock.NotLockError
	if errors.As(err, &wrong) {
		j.State = lock.StateForeign
		j.Unread = append(j.Unread, fmt.Sprintf("the lock: %s is %s", wrong.Key, wrong.What))
	} else if err != nil {
		j.State = ""
		j.Unread = append(j.Unread, "the lock: "+lock.Cause(err))
	}
	return j
}

// open opens the file of a lock, if it is there.
func (i *inspector) open(name string) (*lockFile, error) {
	path := filepath.Join(i.dir, name)
	f, err := i.openAt(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, refuse(path, err)
	}
	info, err := f.Stat()
	if err == nil && planted(info) != "" {
		err = &lock.NotLockError{Key: path, What: planted(info)}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &lockFile{File: f, path: path}, nil
}

// look finds the holder of the file. A record without an end may belong to a run that is gone. The
// kernel knows; where it does not tell, look locks the file for an instant.
func (f *lockFile) look(j *lock.Job) error {
	r, err := f.read()
	if err != nil || len(r.Run) != lock.RunIDLen {
		return err
	}
	if r.Ended > 0 {
		if left := r.Kept(); left > 0 {
			describe(j, r, lock.StateEnded)
			j.Left = left
		}
		return nil
	}
	err = flock(f.File, syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		f.unlock()
		describe(j, r, lock.StateVanished)
		j.Open = lock.Entry{
			Run: r.Run, Host: r.Host, User: r.User, PID: r.PID, Command: r.Command, Fence: j.Fence, At: j.At,
			Status: -1,
		}
		j.Holder, j.At, j.Fence = lock.Holder{}, time.Time{}, 0
		return nil
	}
	if !errors.Is(err, errBusy) {
		return err
	}
	// Another may have come since the record was read, and its own may be still to come.
	if r, err = f.read(); err == nil && r.Ended == 0 && len(r.Run) == lock.RunIDLen {
		describe(j, r, lock.StateRunning)
	}
	return err
}

// describe takes in who a record says has the file.
func describe(j *lock.Job, r wire.Record, state lock.State) {
	j.State = state
	j.Holder, j.At, j.Fence = wire.ReadHeld(r.String())
}

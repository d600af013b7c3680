package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"

	"golang.org/x/sys/unix"
)

// errBusy says that another open file description has the lock.
var errBusy = errors.New("file is locked")

// A lockFile is an open file description: a lock of flock(2) belongs to it and
// not to a process. It is never unlinked, or two could hold one name's lock on
// two files.
type lockFile struct {
	*os.File
	path string
}

// nameMax is a file name's length that every file system takes.
const nameMax = 255

// fileName is different for each name of a lock, and plain to read: all but
// letters, digits and -_. is written as in a URL. What is too long ends in a +,
// which no short one has, and its hash. A part follows an @, which no name has.
func fileName(lockName string) string {
	name, part := lock.SplitPart(lockName)
	end := ".lock"
	if part != "" {
		end = "@" + part + end
	}
	var b []byte
	for i := range len(name) {
		c := name[i]
		if c == '-' || c == '_' || c == '.' && i > 0 ||
			'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	if len(b)+len(end) > nameMax {
		sum := fmt.Sprintf("+%x", sha256.Sum256([]byte(name)))
		b = append(b[:nameMax-len(end)-len(sum)], sum...)
	}
	return string(b) + end
}

// openLockFile opens or makes a file of ours in an open directory, and refuses with *NotLockError
// what others may have planted in its place. O_NONBLOCK: a FIFO must not hang.
func openLockFile(at *os.File, dir, name string) (*lockFile, error) {
	path := filepath.Join(dir, name)
	var f *os.File
	err := numbered(at, func(number int) error {
		fd, err := unix.Openat(number, name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC,
			0o600)
		f = os.NewFile(uintptr(fd), path)
		return err
	})
	if err != nil {
		return nil, refuse(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, refuse(path, err)
	}
	if what := planted(info); what != "" {
		f.Close()
		return nil, &lock.NotLockError{Key: path, What: what}
	}
	return &lockFile{File: f, path: path}, nil
}

// refuse says what is at a path that could not be opened.
func refuse(path string, err error) error {
	if info, statErr := os.Lstat(path); statErr == nil {
		if what := planted(info); what != "" {
			return &lock.NotLockError{Key: path, What: what}
		}
	}
	denied := errors.Is(err, fs.ErrPermission)
	return lock.Shortage(path, err, &lock.UnavailableError{Address: path, Err: errors.New(lock.Cause(err)),
		Denied: denied})
}

func planted(info fs.FileInfo) (what string) {
	stat := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case info.IsDir():
		return "a directory"
	case !info.Mode().IsRegular():
		return "not a regular file"
	case stat.Uid != uint32(os.Geteuid()):
		return "a file of another user"
	case stat.Nlink > 1:
		return "a file with a second hard link"
	}
	return ""
}

// flock repeats flock(2) when a signal has interrupted it. The number is the file's
// until it returns, also if the file is closed meanwhile.
func flock(f *os.File, how int) error {
	err := numbered(f, func(number int) error {
		for {
			if err := syscall.Flock(number, how); err != syscall.EINTR {
				return err
			}
		}
	})
	switch {
	case err == syscall.EWOULDBLOCK:
		return errBusy
	case err != nil:
		return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return nil
}

// numbered calls do with the number of an open file.
func numbered(f *os.File, do func(number int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := raw.Control(func(number uintptr) { done = do(int(number)) }); err != nil {
		return err
	}
	return done
}

// tryLock locks the file, or returns errBusy.
func (f *lockFile) tryLock() error { return f.current(flock(f.File, syscall.LOCK_EX|syscall.LOCK_NB)) }

// waitLock locks the file, or returns errBusy when ctx has ended before.
//
// Nothing can end a flock(2) that waits, short of the process's end. So when ctx
// ends, the goroutine is left in the system call, with a descriptor of its own
// for the same lock; should it get the lock then, it gives it back at once.
func (f *lockFile) waitLock(ctx context.Context) error {
	own, err := f.duplicate()
	if err != nil {
		return &fs.PathError{Op: "dup", Path: f.path, Err: err}
	}
	got := make(chan error)
	go func() {
		defer own.Close()
		err := flock(own, syscall.LOCK_EX)
		select {
		case got <- err:
		case <-ctx.Done():
			if err == nil {
				flock(own, syscall.LOCK_UN)
			}
		}
	}()
	select {
	case err := <-got:
		return f.current(err)
	case <-ctx.Done():
		return errBusy
	}
}

// duplicate is another descriptor of the same open file description.
func (f *lockFile) duplicate() (own *os.File, err error) {
	err = numbered(f.File, func(number int) error {
		fd, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0)
		own = os.NewFile(uintptr(fd), f.path)
		return err
	})
	return own, err
}

// current undoes a lock on a file that is no longer the one at its path.
func (f *lockFile) current(err error) error {
	if err != nil || !f.removed() {
		return err
	}
	f.unlock()
	return &fs.PathError{Op: "lock", Path: f.path, Err: errors.New("it has been removed meanwhile")}
}

func (f *lockFile) unlock() { flock(f.File, syscall.LOCK_UN) }

// removed reports whether the path leads elsewhere now.
func (f *lockFile) removed() bool {
	ours, err := f.Stat()
	if err != nil {
		return true
	}
	there, err := os.Lstat(f.path)
	return err != nil && errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(ours, there)
}

// read returns the last holder's record: its first line. An empty file, or one
// that lost its content with the machine's power, has none.
func (f *lockFile) read() (r wire.Record, err error) {
	buf := make([]byte, wire.RecordMax)
	n, err := f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return r, err
	}
	line, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	if len(bytes.Trim(line, "\x00")) == 0 {
		return r, nil
	}
	if !bytes.HasPrefix(line, []byte(`{"run":"`)) {
		return r, &lock.NotLockError{Key: f.path, What: "a file of another program"}
	}
	if json.Unmarshal(line, &r) != nil {
		r = wire.Record{}
	}
	return r, nil
}

// write replaces the record. A reader beside it sees the old line or the new one.
func (f *lockFile) write(r wire.Record) error {
	line := r.String() + "\n"
	if _, err := f.WriteAt([]byte(line), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(line)))
}

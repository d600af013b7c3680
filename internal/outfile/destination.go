package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"redlockrun/internal/runner"
)

var (
	ErrNoFile  = errors.New("it is not a regular file")
	errForeign = errors.New("it is a link of another user")
)

// maxLinks is the limit of the kernel.
const maxLinks = 40

// Put writes text to the file at path. It follows a link, and replaces the target in the target's
// directory. Files in /dev and /proc are written to, not replaced. Mode is as for ReplaceBy.
// Errors name the file.
func Put(path string, text []byte, mode os.FileMode) error {
	d, err := resolve(path)
	if err != nil {
		return &os.PathError{Op: "replace", Path: path, Err: Bare(err)}
	}
	if !d.isStream {
		return ReplaceBy(d.path, mode, func(f *os.File) error {
			_, err := f.Write(text)
			return err
		})
	}
	if err := d.append(text); err != nil {
		return &os.PathError{Op: "write", Path: path, Err: Bare(err)}
	}
	return nil
}

// A destination is the target of a path after all links.
type destination struct {
	path       string
	isStream   bool // written to, not replaced
	descriptor int  // of a stream that this process has open; -1: none
}

// resolve follows the links of the last element of path. The kernel follows the others.
func resolve(path string) (destination, error) {
	inDev := false
	for range maxLinks {
		dir, name := filepath.Split(path)
		real := realDir(dir)
		if n, ok := ownDescriptor(real, name); ok {
			return destination{path, true, n}, nil
		}
		// The text of a link in /proc is not always a path.
		if isWithin(real, "/proc") {
			return destination{path, true, -1}, nil
		}
		inDev = inDev || isWithin(real, "/dev") && !isWithin(real, "/dev/shm")
		there, err := os.Lstat(path)
		switch {
		case err == nil && there.Mode().Type() == os.ModeSymlink:
			if !inDev && !mayFollow(there) {
				return destination{}, errForeign
			}
			to, err := os.Readlink(path)
			if err != nil {
				return destination{}, err
			}
			if !filepath.IsAbs(to) {
				to = dir + to // not Join, which would resolve a .. behind a link
			}
			path = to
		case inDev:
			return destination{path, true, -1}, nil
		case err == nil && !there.Mode().IsRegular():
			return destination{}, ErrNoFile
		default: // a missing file is created; other errors show then
			return destination{path, false, -1}, nil
		}
	}
	return destination{}, syscall.ELOOP
}

// realDir returns dir without links; "" if it cannot be found.
func realDir(dir string) string {
	for _, step := range []func(string) (string, error){filepath.EvalSymlinks, filepath.Abs, filepath.EvalSymlinks} {
		var err error
		if dir, err = step(dir); err != nil {
			return ""
		}
	}
	return dir
}

func isWithin(dir, root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }

// mayFollow reports whether a link belongs to the user or to root. Another user's link may be a
// trap: this process would replace a file of its own user.
func mayFollow(link os.FileInfo) bool {
	s, ok := link.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// ownDescriptor returns the descriptor of this process that dir and name stand for, such as
// /dev/stdout, /dev/fd/3 and /proc/self/fd/3. Opening such a name again would write from the start
// of the file.
func ownDescriptor(dir, name string) (n int, ok bool) {
	if dir == "/dev" {
		n, ok = map[string]int{"stdin": 0, "stdout": 1, "stderr": 2}[name]
		return n, ok
	}
	self, err := filepath.EvalSymlinks("/proc/self")
	isOwn := dir == "/dev/fd" || err == nil && filepath.Base(dir) == "fd" && isWithin(dir, self)
	if !isOwn {
		return 0, false
	}
	n, err = strconv.Atoi(name)
	return n, err == nil
}

// append writes text to the end of the stream. It creates nothing.
func (d destination) append(text []byte) error {
	f, err := d.open()
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func (d destination) open() (*os.File, error) {
	if d.descriptor >= 0 {
		return runner.Inherited(d.descriptor, d.path)
	}
	// O_NONBLOCK: a FIFO without a reader fails at once.
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	is, err := f.Stat()
	if err == nil && is.Mode()&(os.ModeDevice|os.ModeCharDevice) == os.ModeDevice {
		err = ErrNoFile // a disk
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

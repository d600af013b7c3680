// Package outfile replaces a file as a whole: a reader sees the old text or the new one.
package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"redlockrun/internal/lock"
)

// ForAll lets other users read a file: often another user collects or serves it.
const ForAll = 0o644

// ReplaceBy replaces the file at path by what write writes, or leaves it as it was: a reader sees
// either the old file or the new one, complete. Mode overrides the umask; 0 leaves the mode to the
// umask. ReplaceBy replaces a link, but no device or other special file. Errors name path.
func ReplaceBy(path string, mode os.FileMode, write func(*os.File) error) error {
	if there, err := os.Stat(path); err == nil && !there.Mode().IsRegular() {
		return &os.PathError{Op: "replace", Path: path, Err: ErrNoFile}
	}
	dir, _ := filepath.Split(path) // not Dir, which would resolve a .. behind a link
	beside := dir + ".redlockrun-" + lock.NewRunID()
	err := create(beside, mode, write)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		_ = os.Remove(beside)
		return &os.PathError{Op: "write", Path: path, Err: Bare(err)}
	}
	return nil
}

// Bare returns err without the path of the temporary file.
func Bare(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

func create(path string, mode os.FileMode, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = write(f)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Package outfile writes a file as a whole: a reader finds the old text or the new one.
package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"redlockrun/internal/lock"
)

// ForAll lets other users read a file: who collects or serves it is hardly who wrote it.
const ForAll = 0o644

// replace puts text into the place of the file at path, or leaves that as it was: who reads
// it finds the old or the new one, and all of it. Its mode is that, whatever the umask; 0
// leaves it to the umask. A device, or what else is no file, is not replaced; a link is.
// Errors name path.
func replace(path string, text []byte, mode os.FileMode) error {
	return ReplaceBy(path, mode, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// ReplaceBy is replace by what write writes.
func ReplaceBy(path string, mode os.FileMode, write func(*os.File) error) error {
	if there, err := os.Stat(path); err == nil && !there.Mode().IsRegular() {
		return &os.PathError{Op: "replace", Path: path, Err: ErrNoFile}
	}
	dir, _ := filepath.Split(path) // not Dir, which shortens what has a link before a ..
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

// Bare is err without the paths that it names: those of a file that nobody has asked for.
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

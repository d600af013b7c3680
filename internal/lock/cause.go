package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Shortage returns wrong, unless err says that descriptors or memory are short: then the
// configuration is not at fault. It does not repeat a path, which may hold a password.
func Shortage(subject string, err, wrong error) error {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return fmt.Errorf("open %s: %w", subject, errno)
		}
	}
	return wrong
}

// Cause returns the text of an error without the path, which its message already names.
func Cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

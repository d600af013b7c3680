package lock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// A file is one that a field of OpenConfig names.
type file struct{ subject, field, path string }

func (f file) read() ([]byte, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, shortage(f.subject, err, f.wrong(cause(err)))
	}
	return text, nil
}

func (f file) wrong(problem string) error {
	return &ConfigError{Subject: f.subject, Field: f.field, Problem: problem}
}

// shortage is wrong, unless err says that descriptors or memory were wanting: that
// is nobody's configuration. It does not repeat a path, which may hold a password.
func shortage(subject string, err, wrong error) error {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return fmt.Errorf("open %s: %w", subject, errno)
		}
	}
	return wrong
}

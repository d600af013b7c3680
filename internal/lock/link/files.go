package link

import (
	"os"

	"redlockrun/internal/lock"
)

// A file is one that a field of Servers names.
type file struct{ subject, field, path string }

func (f file) read() ([]byte, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, lock.Shortage(f.subject, err, f.wrong(lock.Cause(err)))
	}
	return text, nil
}

func (f file) wrong(problem string) error {
	return &lock.ConfigError{Subject: f.subject, Field: f.field, Problem: problem}
}

package link

import (
	"context"
	"errors"

	"redlockrun/internal/lock"
)

// A file is one that a field of Servers names.
type file struct{ subject, field, path string }

func (f file) read(ctx context.Context) ([]byte, error) {
	text, err := readFile(ctx, f.path)
	switch {
	case errors.Is(err, errUnread):
		return nil, &lock.FileTimeoutError{Subject: f.subject, Field: f.field}
	case err != nil:
		return nil, lock.Shortage(f.subject, err, f.wrong(lock.Cause(err)))
	}
	return text, nil
}

func (f file) wrong(problem string) error {
	return &lock.ConfigError{Subject: f.subject, Field: f.field, Problem: problem}
}

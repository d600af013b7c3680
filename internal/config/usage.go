package config

import (
	"errors"
	"fmt"
	"strings"
)

// A UsageError says what is wrong with the command line, a variable or the file. It quotes nothing
// that may be a password.
type UsageError struct {
	Problem string   // one line
	Hints   []string // what to write instead; may be empty
	cause   error
}

// Usagef returns the error whose problem is the text of fmt.Errorf, and which unwraps in the same
// way.
func Usagef(format string, args ...any) *UsageError {
	err := fmt.Errorf(format, args...)
	return &UsageError{Problem: err.Error(), cause: errors.Unwrap(err)}
}

// Hint adds a hint to e and returns it.
func (e *UsageError) Hint(text string) *UsageError {
	e.Hints = append(e.Hints, text)
	return e
}

func (e *UsageError) Error() string { return e.Problem }

// Unwrap returns why the file could not be read, or nil.
func (e *UsageError) Unwrap() error { return e.cause }

// quotable quotes text for a message: escaped, short, and never what may be a URL with a password
// in the wrong flag.
func quotable(text string) string {
	if len(text) > 40 || strings.ContainsAny(text, "@:/") {
		return "the value"
	}
	return fmt.Sprintf("%q", text)
}

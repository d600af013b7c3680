package main

import "fmt"

// A usageError says what is wrong with the command line, a variable or the
// file, in one line, and what to write instead.
type usageError struct {
	problem string
	hints   []string
}

func (e *usageError) Error() string { return e.problem }

func usagef(format string, args ...any) *usageError {
	return &usageError{problem: fmt.Sprintf(format, args...)}
}

func (e *usageError) hint(text string) *usageError {
	e.hints = append(e.hints, text)
	return e
}

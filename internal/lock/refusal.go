package lock

import (
	"errors"
	"strings"
)

// A Refusal is the answer of a server that does not do what it was asked for. It is
// found in an *UnavailableError.
type Refusal struct {
	// Code is the word by which Redis calls the reason: "READONLY", "OOM". It is
	// NOCOMMAND if the server does not know a command, and empty for reasons
	// that trying again may or may not change.
	Code string

	// Command is the one of ours that the user may not use, or that the server does
	// not know: "PUBLISH". Empty: it does not matter, or the server does not say.
	Command string

	Text string // without what servers add to errors in scripts
}

// NOCOMMAND is the Code for a command that the server does not know or have.
const NOCOMMAND = "NOCOMMAND"

func (r *Refusal) Error() string {
	switch {
	case r.Command == "":
	case r.Code == NOCOMMAND:
		return "the server does not know the command " + r.Command
	case !strings.Contains(strings.ToUpper(r.Text), r.Command):
		return r.Text + ": " + r.Command
	}
	return r.Text
}

// Telling is which of two errors says more about why a store could not be asked: err, or
// before, which an earlier try has met; nil if there was none. A refusal says more than
// silence, and what had its whole time more than what was cut short. Else err does.
func Telling(before, err error, whole bool) error {
	switch refused := Refused(err); {
	case before == nil, refused && !Refused(before):
		return err
	case !whole, !refused && Refused(before):
		return before
	}
	return err
}

// Refused reports whether a server has refused what it was asked for.
func Refused(err error) bool { return errors.As(err, new(*Refusal)) }

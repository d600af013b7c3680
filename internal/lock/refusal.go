package lock

import (
	"errors"
	"strings"
)

// A Refusal is the answer of a server that does not do what it was asked. An *UnavailableError
// wraps it.
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

// ClearerError returns the error that says more about why a store could not be asked: err, or
// before, the error of an earlier try (nil if there was none). A refusal says more than silence,
// and a try with its full time more than a shortened one. Otherwise it returns err.
func ClearerError(before, err error, whole bool) error {
	switch refused := Refused(err); {
	case before == nil, refused && !Refused(before):
		return err
	case !whole, !refused && Refused(before):
		return before
	}
	return err
}

// Refused reports whether a server refused the request.
func Refused(err error) bool { return errors.As(err, new(*Refusal)) }

// refusalHints tell the operator how to mend a server that refuses a request,
// by the first word of Redis' error.
var refusalHints = map[string]string{
	"READONLY": "this is a replica: use the address of its master, or of the sentinels (redis+sentinel://)",
	"MASTERDOWN": "this is a replica without its master: " +
		"use the address of the master, or of the sentinels (redis+sentinel://)",
	"CLUSTERDOWN": "no node of the Cluster serves the lock's slot: see redis-cli cluster info",
	"LOADING":     "the server is still loading its data: try again later, or wait longer with --redis-timeout D",
	"OOM":         "the server's memory is full: free some, or raise maxmemory",
	"MISCONF":     "the server cannot write to disk: see its log",
	"NOREPLICAS":  "the server has fewer replicas than min-replicas-to-write demands: check the replicas",
	"BUSY":        "a script blocks the server: redis-cli script kill ends it",
	"MAXCLIENTS":  "the server has reached maxclients: close unused connections, or raise maxclients",
	"TRYAGAIN":    "the lock's slot is moving to another node: try again after the move",
	"DENIED":      "the server's protected mode accepts only local clients: set a password, or turn it off",
	"NOAUTH": "the server needs a password: " +
		"put it into the URL (redis://USER:PASSWORD@...), or use --redis-password-file FILE",
	"NODB": "the server has fewer databases: use another number, or raise databases in its configuration",
}

// Hint says what to do about it; "" if only its text helps.
func (r *Refusal) Hint() string { return refusalHints[r.Code] }

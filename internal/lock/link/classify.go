package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"

	"redlockrun/internal/lock"
)

// A class says what an error of a request means. Whether the lock is ours,
// another's, or free, is never an error: the scripts answer it.
type class int

const (
	unknown  class = iota // the request may have been done or not, and may be tried again
	outdated              // the server refuses a password that does not last: another one may do
	denied                // the server refuses us: password or rights
	unfit                 // the server, or what answers there, cannot keep our locks
)

func classify(err error) class {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var invalid x509.CertificateInvalidError
	var nowhere *nowhereError
	var password *lock.PasswordError
	refusal, refused := refusalIn(err)
	switch {
	case errors.As(err, &nowhere) && nowhere.final():
		return unfit
	case refused:
		return refusal.class
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &invalid), turnedAway(err),
		errors.As(err, &password) && password.Final:
		return unfit
	}
	return unknown
}

// Final reports whether asking again cannot help.
func Final(err error) bool {
	c := classify(err)
	return c == denied || c == unfit
}

// reusable reports whether the connection can serve the next request: the
// server has answered, and another server would not answer better.
func reusable(err error) bool {
	refusal, refused := refusalIn(err)
	return refused && !refusal.leave
}

// Answered reports whether the server has refused a request: then nothing of
// it has been done, nor will be.
func Answered(err error) bool {
	_, refused := refusalIn(err)
	return refused
}

// Unavailable is err as users see it: in short, without anything secret, and
// without what could steer a terminal.
func Unavailable(a Address, err error) *lock.UnavailableError {
	c := classify(err)
	return &lock.UnavailableError{Address: a.String(), Err: &answer{say(err, a), err},
		Denied: c == denied || c == outdated}
}

// An answer is an error whose text is fit to be shown; its cause is only to be
// looked at by its type.
type answer struct {
	text  string
	cause error
}

func (e *answer) Error() string { return e.text }
func (e *answer) Unwrap() error { return e.cause }

func say(err error, a Address) string {
	var nowhere *nowhereError
	switch {
	case errors.As(err, &nowhere):
		return nowhere.say(func(err error) string { return sayOne(err, a) })
	case a.at != "":
		return a.at + ": " + sayOne(err, a)
	}
	return sayOne(err, a)
}

func sayOne(err error, a Address) string {
	var dial *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout():
		return lock.Escaped(dial.Err.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the server closed the connection"
	}
	said := err.Error()
	if refusal, refused := refusalIn(err); refused {
		said = refusal.Error()
		if a.kind == single && (refusal.Code == "MOVED" || refusal.Code == "ASK") {
			said = "this is one node of a Cluster: use redis+cluster:// instead of redis://"
		}
	}
	said = mask(said, a.password, a.sentinelPassword, a.lastPassword())
	if len(said) > 300 {
		said = said[:300] + "..."
	}
	return lock.Escaped(said)
}

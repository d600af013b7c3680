package lock

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A class says what an error of a request means. That the lock is ours, or
// another's, or nobody's, is never an error: the scripts answer it.
type class int

const (
	unknown class = iota // the request may have been done or not, and may be tried again
	denied               // the server refuses us: password or rights
	unfit                // the server, or what answers there, cannot keep our locks
)

// denials and misfits are how replies begin that trying again does not change.
// Redis has no other mark for them: this is the one place that looks at texts.
var (
	denials = []string{
		"NOAUTH", "WRONGPASS", "NOPERM", "DENIED", "AUTH ", "Client sent AUTH", "invalid password",
		"Protocol error: unauthenticated", // Redis refuses large requests before it asks for the password
		"The user executing the script can't", "ACL failure in script",
	}
	misfits = []string{"unknown command", "MOVED ", "CROSSSLOT", "Script attempted to access a non local key", "DB index is out of range"}
)

func classify(err error) class {
	var reply redis.Error
	var cert *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var invalid x509.CertificateInvalidError
	var nowhere *nowhereError
	switch {
	case errors.As(err, &nowhere) && nowhere.final():
		return unfit
	case errors.As(err, &reply):
		return classifyReply(strings.TrimPrefix(reply.Error(), "ERR "))
	case errors.As(err, &cert), errors.As(err, &alert), errors.As(err, &record), errors.As(err, &invalid):
		return unfit
	}
	return unknown
}

func classifyReply(text string) class {
	for _, p := range denials {
		if strings.HasPrefix(text, p) {
			return denied
		}
	}
	for _, p := range misfits {
		if strings.HasPrefix(text, p) {
			return unfit
		}
	}
	return unknown
}

// reusable reports whether the connection can serve the next request: the
// server has answered, and another server would not answer better.
func reusable(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	for _, p := range []string{"READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "NOAUTH", "WRONGPASS"} {
		if strings.HasPrefix(reply.Error(), p) {
			return false
		}
	}
	return true
}

// answered reports whether the server has refused a request: then nothing of
// it has been done, nor will be.
func answered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// unavailable is err as users see it: in short, without anything secret, and
// without what could steer a terminal.
func unavailable(a address, err error) *UnavailableError {
	return &UnavailableError{Address: a.String(), Err: &answer{say(err, a), err}, Denied: classify(err) == denied}
}

// An answer is an error whose text is fit to be shown; its cause is only to be
// looked at by its type.
type answer struct {
	text  string
	cause error
}

func (e *answer) Error() string { return e.text }
func (e *answer) Unwrap() error { return e.cause }

func say(err error, a address) string {
	var nowhere *nowhereError
	switch {
	case errors.As(err, &nowhere):
		return nowhere.say(func(err error) string { return sayOne(err, a) })
	case a.at != "":
		return a.at + ": " + sayOne(err, a)
	}
	return sayOne(err, a)
}

func sayOne(err error, a address) string {
	var dial *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout():
		return plain(dial.Err.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "connection closed by the server"
	}
	// A server that does not know AUTH or HELLO repeats their arguments.
	said, _, _ := strings.Cut(err.Error(), "with args beginning with")
	if a.kind == single && errors.As(err, new(redis.Error)) && (strings.HasPrefix(said, "MOVED ") || strings.HasPrefix(said, "ASK ")) {
		said = "this is one node of a Cluster: redis+cluster:// in place of redis:// reaches all of it"
	}
	for _, secret := range []string{a.password, a.sentinelPassword} {
		for _, written := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
			if secret != "" {
				said = strings.ReplaceAll(said, written, "***")
			}
		}
	}
	if len(said) > 300 {
		said = said[:300] + "..."
	}
	return plain(strings.TrimRight(said, ", "))
}

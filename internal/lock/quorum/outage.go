package quorum

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// An outage collects why masters did not answer, or did not vote.
type outage struct {
	quorum   *quorum
	all      bool // all masters are needed, not a majority
	reasons  []string
	causes   []error
	refusals int // how many refused us
}

// ErrRestarted is why a server of a quorum does not vote: it may have forgotten
// who has the lock.
var ErrRestarted = errors.New("server was restarted")

// add notes err of m; nil means that there was no answer yet.
func (o *outage) add(m master, err error) {
	var down *lock.UnavailableError
	switch {
	case err == nil:
		o.note(context.DeadlineExceeded, "%s: no answer in time", m.Address())
	case errors.As(err, &down):
		o.note(err, "%s: %v", down.Address, down.Err)
		if down.Denied {
			o.refusals++
		}
	default:
		o.note(err, "%s: %v", m.Address(), err)
	}
}

// addSilent notes why a master did not answer, and returns that as its own.
func (o *outage) addSilent(address string, err error) *lock.UnavailableError {
	var down *lock.UnavailableError
	if !errors.As(err, &down) {
		down = &lock.UnavailableError{Address: address, Err: err}
	}
	if o.note(down, "%s: %v", down.Address, down.Err); down.Denied {
		o.refusals++
	}
	return down
}

func (o *outage) addRestarted(m master, wait time.Duration) {
	o.note(ErrRestarted, "%s: restarted, does not vote for another %s", m.Address(), wait)
}

// errNewer is why a master of a quorum does not vote for this release. It is no
// *NewerError: that speaks for the quorum.
var errNewer = errors.New("lock used by a newer redlockrun")

func (o *outage) addNewer(m master, protocol int) {
	o.note(errNewer, "%s: it is used by a newer redlockrun (protocol %d)", m.Address(), protocol)
}

func (o *outage) note(cause error, format string, args ...any) {
	o.causes = append(o.causes, cause)
	o.reasons = append(o.reasons, fmt.Sprintf(format, args...))
}

// Error and Unwrap make an outage the reason of an UnavailableError.
func (o *outage) Error() string {
	return fmt.Sprintf("%d of %d are needed: %s", o.need(), o.quorum.size, strings.Join(o.reasons, "; "))
}

func (o *outage) need() int {
	if o.all {
		return o.quorum.size
	}
	return lock.Majority(o.quorum.size)
}

func (o *outage) Unwrap() []error { return o.causes }

func (o *outage) unavailable() *lock.UnavailableError {
	return &lock.UnavailableError{
		Address: o.quorum.address, Err: o, Denied: o.refusals > o.quorum.size-o.need(),
	}
}

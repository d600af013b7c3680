package redistest

import (
	"errors"
	"time"
)

// Eventually returns nil as soon as ready does, and its last error if that
// takes too long. A server that is still starting makes it wait, too.
func Eventually(ready func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := ready()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-time.After(5 * time.Millisecond)
	}
}

// all runs each of the checks until one is an error.
func all(checks ...func() error) func() error {
	return func() error {
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
		return nil
	}
}

// each calls f for every server.
func each(servers []*Server, f func(*Server) error) (err error) {
	for _, s := range servers {
		err = errors.Join(err, f(s))
	}
	return err
}

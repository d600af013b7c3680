package redistest

import "time"

// Eventually returns nil as soon as ready does, and its last error if that
// takes too long. A server that is still starting makes it wait, too.
func Eventually(ready func() error) (err error) {
	Until(patience, func() bool { err = ready(); return err == nil })
	return err
}

// Until returns true as soon as state does, and false when the limit has passed.
// It asks less often the longer it waits: what is waited for needs the processor, too.
func Until(limit time.Duration, state func() bool) bool {
	began := time.Now()
	for !state() {
		waited := time.Since(began)
		if waited > limit {
			return false
		}
		<-time.After(min(max(waited/50, time.Millisecond), 20*time.Millisecond))
	}
	return true
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

// each calls f for one server after the other until one is an error: who asks again
// and again asks little.
func each(servers []*Server, f func(*Server) error) error {
	for _, s := range servers {
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

package redistest

import "testing"

// Masters are servers of one kind that know nothing of each other.
type Masters struct {
	group
	Servers []*Server
}

// StartMasters starts n that end with the test.
func StartMasters(t testing.TB, n int, opts Options) *Masters {
	t.Helper()
	return startFor(t, func(dir string) (*Masters, error) { return NewMasters(dir, n, opts) })
}

// NewMasters returns when each of n servers answers. Close ends them. Their files
// are in dir.
func NewMasters(dir string, n int, opts Options) (*Masters, error) {
	m := &Masters{group: group{dir: dir, data: opts}}
	return m, m.assemble(steps{start: func() (err error) {
		m.Servers, err = m.start(n, nil)
		return err
	}})
}

// URLs are what --redis takes, once for each.
func (m *Masters) URLs() (urls []string) {
	for _, s := range m.Servers {
		urls = append(urls, s.URL())
	}
	return urls
}

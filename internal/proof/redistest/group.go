package redistest

import (
	"net/url"
	"os"
	"strings"
	"testing"
)

// A group is the servers of one store. All end with it.
type group struct {
	dir     string
	data    Options // of each server that keeps data
	servers []*Server
}

// steps are how a group comes to be. A nil one is left out.
type steps struct {
	start     func() error // starts the servers; they answer when it returns
	wire      func() error // tells them of each other
	ready     func() error // is nil when all is in order; it is asked until then
	stabilize func() error // sets what holds from then on
}

// assemble goes through the steps. If one fails, what has been started is ended.
func (g *group) assemble(s steps) error {
	err := g.certify()
	for _, step := range []func() error{s.start, s.wire, s.inOrder, s.stabilize} {
		if err == nil && step != nil {
			err = step()
		}
	}
	if err != nil {
		g.Close()
	}
	return err
}

func (s steps) inOrder() error {
	if s.ready == nil {
		return nil
	}
	return Eventually(s.ready)
}

// certify gives a group with TLS one CA.
func (g *group) certify() (err error) {
	if g.data.TLS && g.data.CA == nil {
		g.data.CA, err = NewCA(g.dir)
	}
	return err
}

// start starts n servers one after the other, each as opts says: nil is as all
// that keep data.
func (g *group) start(n int, opts func(i int) Options) (started []*Server, err error) {
	for i := range n {
		one := g.data
		if opts != nil {
			one = opts(i)
		}
		s, err := g.startOne(one)
		if err != nil {
			return started, err
		}
		started = append(started, s)
	}
	return started, nil
}

// startOne starts a server that ends with the group. It replicates with the
// password that all have.
func (g *group) startOne(opts Options) (*Server, error) {
	dir, err := os.MkdirTemp(g.dir, "server")
	if err != nil {
		return nil, err
	}
	if opts.Password != "" && opts.sentinel == "" {
		opts.Args = append([]string{"--masterauth", opts.Password}, opts.Args...)
	}
	s, err := New(dir, opts)
	if err == nil {
		g.servers = append(g.servers, s)
	}
	return s, err
}

// Close kills every server of the group.
func (g *group) Close() {
	for _, s := range g.servers {
		s.Close()
	}
}

// addrs is the addresses of servers, with commas between them.
func addrs(servers []*Server) string {
	var list []string
	for _, s := range servers {
		list = append(list, s.Addr())
	}
	return strings.Join(list, ",")
}

// CA is the PEM file of the CA of all servers.
func (g *group) CA() string { return g.data.CA.File() }

// url is what --redis takes for a store of a kind, such as redis+cluster, at hosts.
func (o Options) url(kind, hosts string) *url.URL {
	u := &url.URL{Scheme: kind, Host: hosts}
	if o.TLS {
		u.Scheme = strings.Replace(kind, "redis", "rediss", 1)
	}
	if o.Password != "" {
		u.User = url.UserPassword("", o.Password)
	}
	return u
}

// startFor starts what ends with the test and keeps its files in a directory of
// the test's.
func startFor[S interface{ Close() }](t testing.TB, start func(dir string) (S, error)) S {
	t.Helper()
	s, err := start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// afterMilliseconds is a time of silence; 0 is one that no test lasts.
func afterMilliseconds(n int) int {
	if n == 0 {
		return 24 * 60 * 60 * 1000
	}
	return n
}

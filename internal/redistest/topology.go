package redistest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A group is the servers of one topology, each with a directory of its own.
type group struct {
	dir     string
	servers []*Server
}

// home makes a directory for one server.
func (g *group) home() (string, error) { return os.MkdirTemp(g.dir, "server") }

// start starts a server that ends with the group.
func (g *group) start(opts Options) (*Server, error) {
	dir, err := g.home()
	if err != nil {
		return nil, err
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

// authority gives a group with TLS one CA.
func (g *group) authority(opts *Options) (err error) {
	if opts.TLS && opts.CA == nil {
		opts.CA, err = NewCA(g.dir)
	}
	return err
}

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

// isReplicaOf is nil when s follows master and has its data.
func isReplicaOf(s, master *Server) error {
	role, err := s.Do("ROLE")
	if err != nil {
		return err
	}
	list, _ := role.([]any)
	if len(list) < 4 || fmt.Sprint(list[0]) != "slave" || fmt.Sprint(list[2]) != strconv.Itoa(master.port) || fmt.Sprint(list[3]) != "connected" {
		return fmt.Errorf("wait for replica %s of %s: its role is %v", s.Addr(), master.Addr(), role)
	}
	return nil
}

// hasReplicas is nil when n replicas are online at master.
func hasReplicas(master *Server, n int) error {
	info, err := master.Do("INFO", "replication")
	if err != nil {
		return err
	}
	if got := strings.Count(fmt.Sprint(info), "state=online"); got != n {
		return fmt.Errorf("wait for %d replicas of %s: %d are online", n, master.Addr(), got)
	}
	return nil
}

// Replicated returns when the server to has everything that from has written
// so far.
func Replicated(from, to *Server) error {
	want, err := offset(from, "master_repl_offset")
	if err != nil {
		return err
	}
	return Eventually(func() error {
		got, err := offset(to, "slave_repl_offset")
		if err == nil && got < want {
			err = fmt.Errorf("wait for replica %s: it is at %d of %d", to.Addr(), got, want)
		}
		return err
	})
}

func offset(s *Server, name string) (int64, error) {
	info, err := s.Do("INFO", "replication")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(fmt.Sprint(info), name+":")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseInt(number, 10, 64)
}

// addrs is the addresses of servers, with commas between them.
func addrs(servers []*Server) string {
	var list []string
	for _, s := range servers {
		list = append(list, s.Addr())
	}
	return strings.Join(list, ",")
}

// fields turns a list of names and values into a map.
func fields(reply any) map[string]string {
	list, _ := reply.([]any)
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	return m
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

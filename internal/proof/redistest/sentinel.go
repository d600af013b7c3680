package redistest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// masterName is what the sentinels call the master.
const masterName = "mymaster"

// SentinelOptions say what a [Sentinel] is made of. The zero value is a master
// without a replica, and three sentinels.
type SentinelOptions struct {
	Data             Options // of the master and its replicas
	Replicas         int
	SentinelPassword string

	// Places are the hosts of the master, of each replica and of the three
	// sentinels; nil is this machine.
	Places []*Host

	// DownAfter is after how many milliseconds of silence a sentinel takes a server
	// for down. 0 is never: then only Failover makes another master, so that a slow
	// machine makes none.
	DownAfter int
}

// A Sentinel is a master, its replicas and three sentinels that watch them. All
// end with the test.
type Sentinel struct {
	group
	opts      SentinelOptions
	Data      []*Server // the first is the master, at first
	Sentinels []*Server
}

// StartSentinel starts one that ends with the test.
func StartSentinel(t testing.TB, opts SentinelOptions) *Sentinel {
	t.Helper()
	return startFor(t, func(dir string) (*Sentinel, error) { return NewSentinel(dir, opts) })
}

// NewSentinel returns when the sentinels know each other and every replica.
// Close ends it. Its files are in dir.
func NewSentinel(dir string, opts SentinelOptions) (*Sentinel, error) {
	s := &Sentinel{group: group{dir: dir, data: opts.Data}, opts: opts}
	return s, s.assemble(steps{start: s.startAll, ready: s.ready})
}

func (s *Sentinel) place(i int) *Host {
	if i < len(s.opts.Places) {
		return s.opts.Places[i]
	}
	return nil
}

func (s *Sentinel) startAll() (err error) {
	if s.Data, err = s.start(1+s.opts.Replicas, s.dataOptions); err == nil {
		err = s.startSentinels()
	}
	return err
}

// dataOptions are those of the master and of its replicas, by their place in Data.
func (s *Sentinel) dataOptions(i int) Options {
	opts := s.data
	opts.On = s.place(i)
	if i > 0 {
		master := s.servers[0]
		opts.Args = append([]string{"--replicaof", master.opts.On.IP(), fmt.Sprint(master.port.number)}, opts.Args...)
	}
	return opts
}

// startSentinels starts three that know each other from the beginning: to find
// out by themselves takes them seconds. Their ports have to be known before.
func (s *Sentinel) startSentinels() (err error) {
	for range 20 {
		if err = s.trySentinels(); err == nil {
			return nil
		}
		for _, one := range s.Sentinels {
			one.Kill()
		}
	}
	return err
}

func (s *Sentinel) trySentinels() (err error) {
	ports := []*port{freePort(), freePort(), freePort()}
	defer func() {
		for _, p := range ports {
			if err != nil {
				p.release()
			}
		}
	}()
	conf := func(i int) string { return filepath.Join(s.dir, fmt.Sprintf("sentinel-%d.conf", ports[i].number)) }
	for i := range ports {
		if err := os.WriteFile(conf(i), []byte(s.config(i, ports)), 0o600); err != nil {
			return err
		}
	}
	s.Sentinels, err = s.start(len(ports), func(i int) Options {
		return Options{
			Password: s.opts.SentinelPassword, On: s.place(1 + s.opts.Replicas + i), port: ports[i], sentinel: conf(i),
			TLS: s.data.TLS, Mutual: s.data.Mutual, CA: s.data.CA,
		}
	})
	return err
}

func (s *Sentinel) config(me int, ports []*port) string {
	master, lines := s.Data[0], &strings.Builder{}
	say := func(format string, args ...any) { fmt.Fprintf(lines, "sentinel "+format+"\n", args...) }
	id := func(i int) string { return fmt.Sprintf("%040x", ports[i].number) }
	say("myid %s", id(me))
	say("monitor %s %s %d 2", masterName, master.opts.On.IP(), master.port.number)
	say("down-after-milliseconds %s %d", masterName, afterMilliseconds(s.opts.DownAfter))
	say("failover-timeout %s 10000", masterName)
	if p := s.data.Password; p != "" {
		say("auth-pass %s %q", masterName, p)
	}
	if p := s.opts.SentinelPassword; p != "" && knows(sentinelPass) {
		say("sentinel-pass %q", p)
	}
	for _, r := range s.Data[1:] {
		say("known-replica %s %s %d", masterName, r.opts.On.IP(), r.port.number)
	}
	for i, port := range ports {
		if i != me {
			say("known-sentinel %s %s %d %s", masterName, s.place(1+s.opts.Replicas+i).IP(), port.number, id(i))
		}
	}
	return lines.String()
}

func (s *Sentinel) ready() error {
	master, replicas := s.Data[0], s.Data[1:]
	if err := each(replicas, func(r *Server) error { return isReplicaOf(r, master) }); err != nil {
		return err
	}
	if err := hasReplicas(master, len(replicas)); err != nil {
		return err
	}
	return each(s.Sentinels, s.sees)
}

// sees is nil when a sentinel reaches its fellows and every server.
func (s *Sentinel) sees(sentinel *Server) error {
	for _, what := range []string{"MASTERS", "REPLICAS " + masterName, "SENTINELS " + masterName} {
		list, err := sentinel.Do(append([]any{"SENTINEL"}, words(what)...)...)
		if err != nil {
			return err
		}
		entries, _ := list.([]any)
		for _, entry := range entries {
			f := fields(entry)
			if strings.Contains(f["flags"], "disconnected") || strings.Contains(f["flags"], "down") ||
				f["info-refresh"] == "0" {
				return fmt.Errorf("wait for sentinel %s: %s of %s are %q", sentinel.Addr(), what, f["name"], f["flags"])
			}
		}
	}
	return nil
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

func words(text string) (list []any) {
	for _, w := range strings.Fields(text) {
		list = append(list, w)
	}
	return list
}

// Addr is how messages name the place: the sentinels and the master's name.
func (s *Sentinel) Addr() string { return addrs(s.Sentinels) + "/" + masterName }

// URL is what --redis takes, with the passwords that there are.
func (s *Sentinel) URL() string {
	hosts, _, _ := strings.Cut(s.Addr(), "/")
	u := s.data.url("redis+sentinel", hosts)
	u.Path = "/" + masterName + "/0"
	if p := s.opts.SentinelPassword; p != "" {
		u.RawQuery = "sentinel_password=" + strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return u.String()
}

// Names is the address of the master that a sentinel names.
func (s *Sentinel) Names(sentinel *Server) (string, error) {
	reply, err := sentinel.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
	list, _ := reply.([]any)
	if err != nil || len(list) != 2 {
		return "", errors.Join(err, fmt.Errorf("ask sentinel %s: got %v", sentinel.Addr(), reply))
	}
	return net.JoinHostPort(fmt.Sprint(list[0]), fmt.Sprint(list[1])), nil
}

// Failover makes another server the master, whether the present one is
// reachable or not, and returns it when the sentinels that are asked agree: by,
// which starts it, and those of more.
func (s *Sentinel) Failover(by *Server, more ...*Server) (*Server, error) {
	before, err := s.Names(by)
	if err != nil {
		return nil, err
	}
	if err := Eventually(func() error { _, err := by.Do("SENTINEL", "FAILOVER", masterName); return err }); err != nil {
		return nil, err
	}
	return s.AwaitMaster(before, append(more, by)...)
}

// AwaitMaster returns the new master when the sentinels all name one that is
// not the one of before, and it says so itself.
func (s *Sentinel) AwaitMaster(before string, sentinels ...*Server) (master *Server, err error) {
	err = Eventually(func() error {
		for _, one := range sentinels {
			name, err := s.Names(one)
			if err != nil {
				return err
			}
			if name == before || master != nil && master.Addr() != name {
				return fmt.Errorf("wait for another master than %s: sentinel %s names %s", before, one.Addr(), name)
			}
			for _, data := range s.Data {
				if data.Addr() == name {
					master = data
				}
			}
		}
		return isMaster(master)
	})
	return master, err
}

func isMaster(s *Server) error {
	role, err := s.Do("ROLE")
	if err != nil {
		return err
	}
	if list, _ := role.([]any); len(list) == 0 || list[0] != "master" {
		return fmt.Errorf("wait for master %s: its role is %v", s.Addr(), role)
	}
	return nil
}

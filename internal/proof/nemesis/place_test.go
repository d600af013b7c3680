//go:build linux

package nemesis

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// A place is a store in a network of its own: its servers on one host, and a second host, which
// can be cut off from them.
type place struct {
	name    string
	net     *redistest.Network
	urls    []string
	flags   []string // that each run needs there
	servers []*redistest.Server

	// most is how many servers suffer at once.
	most int

	// after is what a server that was started again has to be told.
	after func(*redistest.Server) error
}

// data are the options of a server that keeps what it has acknowledged.
func data(n *redistest.Network) redistest.Options {
	return redistest.Options{On: n.Right, Persist: true}
}

// places are the stores on which a nemesis runs, by name.
var places = map[string]func(t *testing.T) *place{
	"OneServer": func(t *testing.T) *place {
		n := redistest.NewNetwork(t)
		s := redistest.Start(t, data(n))
		return &place{net: n, urls: []string{s.URL()}, servers: []*redistest.Server{s}, most: 1}
	},
	"Sentinel": func(t *testing.T) *place {
		n := redistest.NewNetwork(t)
		s := redistest.StartSentinel(t, redistest.SentinelOptions{Data: data(n), Replicas: 1, Places: onRight(n, 5)})
		return &place{net: n, urls: []string{s.URL()}, servers: s.Data[:1], most: 1}
	},
	"Cluster": func(t *testing.T) *place {
		n := redistest.NewNetwork(t)
		c := redistest.StartCluster(t, redistest.ClusterOptions{Data: data(n)})
		return &place{net: n, urls: []string{c.URL()}, servers: c.Masters, most: 2, after: patient}
	},
	"Quorum": func(t *testing.T) *place {
		n := redistest.NewNetwork(t)
		m := redistest.StartMasters(t, 5, data(n))
		return &place{net: n, urls: m.URLs(), flags: []string{"--durable"}, servers: m.Servers, most: 4}
	},
}

// onRight are so many places of one host.
func onRight(n *redistest.Network, many int) (hosts []*redistest.Host) {
	for range many {
		hosts = append(hosts, n.Right)
	}
	return hosts
}

// patient lets a node that was started again wait for its fellows as they wait for it.
func patient(s *redistest.Server) error {
	_, err := s.Do("CONFIG", "SET", "cluster-node-timeout", 24*60*60*1000)
	return err
}

func newPlace(t *testing.T, name string) *place {
	t.Helper()
	ability.Need(t, ability.Networks)
	p := places[name](t)
	p.name = name
	return p
}

// command is a redlockrun with this store, on a host.
func (p *place) command(program string, on *redistest.Host, args ...string) *exec.Cmd {
	cmd := on.Command(program, args...)
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "REDLOCKRUN_CONFIG=/dev/null", "REDLOCKRUN_REDIS=" + strings.Join(p.urls, " "),
		roleVar + "=" + jobRole,
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// A storeFault is what happens to servers or to the network, and passes.
type storeFault struct {
	name string
	// strike is done to servers that were drawn, and pass undoes it.
	strike, pass func(p *place, some []*redistest.Server) error
}

// storeFaults are inside of what is promised: no server forgets what it has acknowledged.
var storeFaults = []storeFault{
	{"store frozen", send(syscall.SIGSTOP), send(syscall.SIGCONT)},
	{"store killed", kill, again},
	{"network cut", func(p *place, _ []*redistest.Server) error { return p.net.Cut() },
		func(p *place, _ []*redistest.Server) error { return p.net.Heal() }},
	{"connections closed", each("CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub"), nothing},
	{"scripts forgotten", each("SCRIPT FLUSH"), nothing},
}

func nothing(*place, []*redistest.Server) error { return nil }

func send(sig syscall.Signal) func(*place, []*redistest.Server) error {
	return func(_ *place, some []*redistest.Server) error {
		return forEach(some, func(s *redistest.Server) error { return s.Signal(sig) })
	}
}

func kill(_ *place, some []*redistest.Server) error {
	return forEach(some, func(s *redistest.Server) error { s.Kill(); return nil })
}

// again starts servers that were killed, with what they had on disk.
func again(p *place, some []*redistest.Server) error {
	return forEach(some, func(s *redistest.Server) error {
		if err := s.Restart(true); err != nil || p.after == nil {
			return err
		}
		return p.after(s)
	})
}

func each(commands ...string) func(*place, []*redistest.Server) error {
	return func(_ *place, some []*redistest.Server) error {
		return forEach(some, func(s *redistest.Server) (err error) {
			for _, text := range commands {
				_, e := s.Do(split(text)...)
				err = errors.Join(err, e)
			}
			return err
		})
	}
}

func split(text string) (words []any) {
	for word := range strings.FieldsSeq(text) {
		words = append(words, word)
	}
	return words
}

func forEach(some []*redistest.Server, do func(*redistest.Server) error) (err error) {
	for _, s := range some {
		err = errors.Join(err, do(s))
	}
	return err
}

// some are the servers that suffer: mostly few of them.
func (p *place) some(draw *rand.Rand) []*redistest.Server {
	n := 1 + min(draw.IntN(p.most), draw.IntN(p.most))
	var chosen []*redistest.Server
	for _, i := range draw.Perm(len(p.servers))[:n] {
		chosen = append(chosen, p.servers[i])
	}
	return chosen
}

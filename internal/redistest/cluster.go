package redistest

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// slots is how many a Cluster has.
const slots = 16384

// ClusterOptions say what a [Cluster] is made of. The zero value is three
// masters.
type ClusterOptions struct {
	Data     Options // of each node
	Replicas int     // of each master: 0 or 1

	// NodeTimeout is after how many milliseconds of silence the others take a node
	// for down. 0 is never: then only Failover makes another master, so that a slow
	// machine makes none.
	NodeTimeout int
}

// A Cluster is three masters and their replicas. All end with the test.
type Cluster struct {
	group
	opts     ClusterOptions
	Masters  []*Server // as they are at first
	Replicas []*Server // each of the master at the same place
}

// StartCluster returns when each node finds the Cluster in order.
func StartCluster(t testing.TB, opts ClusterOptions) *Cluster {
	t.Helper()
	c := &Cluster{group: group{t: t}, opts: opts}
	if opts.Data.TLS && opts.Data.CA == nil {
		ca, err := NewCA(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c.opts.Data.CA = ca
	}
	for range 3 {
		c.Masters = append(c.Masters, c.node())
	}
	for range 3 * opts.Replicas {
		c.Replicas = append(c.Replicas, c.node())
	}
	if err := errors.Join(c.join(), c.follow(), Eventually(c.Ready), c.calm()); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Cluster) node() *Server {
	c.t.Helper()
	opts := c.opts.Data
	opts.cluster = true
	opts.Args = append([]string{"--cluster-node-timeout", "1000"}, opts.Args...) // news spreads within half of it
	if opts.Password != "" {
		opts.Args = append(opts.Args, "--masterauth", opts.Password)
	}
	return c.start(opts)
}

// calm gives each node the timeout that was wanted.
func (c *Cluster) calm() error {
	timeout := c.opts.NodeTimeout
	if timeout == 0 {
		timeout = 24 * 60 * 60 * 1000
	}
	return each(c.servers, func(n *Server) error {
		_, err := n.Do("CONFIG", "SET", "cluster-node-timeout", timeout)
		return err
	})
}

// join gives each master its third of the slots and introduces all nodes to
// each other.
func (c *Cluster) join() error {
	for i, m := range c.Masters {
		first, last := i*slots/3, (i+1)*slots/3-1
		if _, err := m.Do("CLUSTER", "ADDSLOTSRANGE", first, last); err != nil {
			return err
		}
	}
	for i, n := range c.servers {
		if _, err := n.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1); err != nil {
			return err
		}
		for _, other := range c.servers[:i] {
			if _, err := n.Do("CLUSTER", "MEET", other.opts.On.IP(), other.port, other.bus); err != nil {
				return err
			}
		}
	}
	return Eventually(func() error { return each(c.servers, c.knowsAll) })
}

func (c *Cluster) knowsAll(n *Server) error {
	reply, err := n.Do("CLUSTER", "NODES")
	if err != nil {
		return err
	}
	nodes := strings.Split(strings.TrimSpace(fmt.Sprint(reply)), "\n")
	if len(nodes) != len(c.servers) || strings.Contains(fmt.Sprint(reply), "handshake") {
		return fmt.Errorf("wait for node %s: it knows of %d nodes", n.Addr(), len(nodes))
	}
	return nil
}

func (c *Cluster) follow() error {
	for i, r := range c.Replicas {
		id, err := c.Masters[i].Do("CLUSTER", "MYID")
		if err != nil {
			return err
		}
		if _, err := r.Do("CLUSTER", "REPLICATE", id); err != nil {
			return err
		}
	}
	return nil
}

// Ready is nil when each node finds the Cluster in order and each replica has
// its master's data.
func (c *Cluster) Ready() error {
	for i, r := range c.Replicas {
		if err := errors.Join(isReplicaOf(r, c.Masters[i]), hasReplicas(c.Masters[i], 1)); err != nil {
			return err
		}
	}
	return each(c.servers, func(n *Server) error {
		return errors.Join(inOrder(n), c.showsReplicas(n))
	})
}

func inOrder(n *Server) error {
	info, err := n.Do("CLUSTER", "INFO")
	if err != nil {
		return err
	}
	if !strings.Contains(fmt.Sprint(info), "cluster_state:ok") {
		return fmt.Errorf("wait for node %s: %.20v", n.Addr(), info)
	}
	return nil
}

func (c *Cluster) showsReplicas(n *Server) error {
	reply, err := n.Do("CLUSTER", "NODES")
	if err != nil {
		return err
	}
	if got := strings.Count(fmt.Sprint(reply), "slave"); got != len(c.Replicas) {
		return fmt.Errorf("wait for node %s: it knows of %d replicas", n.Addr(), got)
	}
	return nil
}

// Addr is how messages name the place: the masters.
func (c *Cluster) Addr() string { return addrs(c.Masters) }

// URL is what --redis takes, with the password if there is one. It names the
// masters.
func (c *Cluster) URL() string {
	u := url.URL{Scheme: "redis+cluster", Host: c.Addr()}
	if c.opts.Data.TLS {
		u.Scheme = "rediss+cluster"
	}
	if p := c.opts.Data.Password; p != "" {
		u.User = url.UserPassword("", p)
	}
	return u.String()
}

// CA is the PEM file of the CA of all nodes.
func (c *Cluster) CA() string { return c.opts.Data.CA.File() }

// Slot is the slot of a key.
func (c *Cluster) Slot(key string) int64 {
	c.t.Helper()
	slot, err := c.Masters[0].Do("CLUSTER", "KEYSLOT", key)
	if err != nil {
		c.t.Fatal(err)
	}
	return slot.(int64)
}

// Owner is the place among Masters of the one that had the key's slot at first.
func (c *Cluster) Owner(key string) int {
	c.t.Helper()
	slot := int(c.Slot(key))
	for i := range c.Masters {
		if slot < (i+1)*slots/3 {
			return i
		}
	}
	panic("a slot beyond the last")
}

// Failover makes the replica at a place the master there, whether the present
// one is reachable or not, and returns when the nodes that live know.
func (c *Cluster) Failover(place int) error {
	r := c.Replicas[place]
	if _, err := r.Do("CLUSTER", "FAILOVER", "TAKEOVER"); err != nil {
		return err
	}
	id, err := r.Do("CLUSTER", "MYID")
	if err != nil {
		return err
	}
	return Eventually(all(func() error { return isMaster(r) }, func() error {
		return each(c.alive(), func(n *Server) error { return owns(n, fmt.Sprint(id), place*slots/3) })
	}))
}

func (c *Cluster) alive() (servers []*Server) {
	for _, s := range c.servers {
		select {
		case <-s.ended:
		default:
			servers = append(servers, s)
		}
	}
	return servers
}

// owns is nil when n takes the node id for the owner of a slot.
func owns(n *Server, id string, slot int) error {
	reply, err := n.Do("CLUSTER", "SLOTS")
	if err != nil {
		return err
	}
	ranges, _ := reply.([]any)
	for _, r := range ranges {
		f := r.([]any)
		if f[0].(int64) <= int64(slot) && int64(slot) <= f[1].(int64) && f[2].([]any)[2] == id {
			return nil
		}
	}
	return fmt.Errorf("wait for node %s: %s has not got slot %d", n.Addr(), id, slot)
}

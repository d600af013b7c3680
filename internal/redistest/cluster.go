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

// StartCluster starts one that ends with the test.
func StartCluster(t testing.TB, opts ClusterOptions) *Cluster {
	t.Helper()
	c, err := NewCluster(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// NewCluster returns when each node finds the Cluster in order. Close ends it.
// Its files are in dir.
func NewCluster(dir string, opts ClusterOptions) (*Cluster, error) {
	c := &Cluster{group: group{dir: dir}, opts: opts}
	if err := c.start(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start() error {
	for _, step := range []func() error{c.startNodes, c.join, c.follow, func() error { return Eventually(c.Ready) }, c.calm} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startNodes() error {
	if err := c.authority(&c.opts.Data); err != nil {
		return err
	}
	for i := range 3 + 3*c.opts.Replicas {
		n, err := c.node()
		if err != nil {
			return err
		}
		if i < 3 {
			c.Masters = append(c.Masters, n)
		} else {
			c.Replicas = append(c.Replicas, n)
		}
	}
	return nil
}

func (c *Cluster) node() (*Server, error) {
	opts := c.opts.Data
	opts.cluster = true
	opts.Args = append([]string{"--cluster-node-timeout", "1000"}, opts.Args...) // news spreads within half of it
	if opts.Password != "" {
		opts.Args = append(opts.Args, "--masterauth", opts.Password)
	}
	return c.group.start(opts)
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
		if _, err := m.Do(addSlots(i*slots/3, (i+1)*slots/3)...); err != nil {
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

// addSlots is the command that gives a node the slots from first up to, but not, end.
func addSlots(first, end int) []any {
	if knows(slotsRange) {
		return []any{"CLUSTER", "ADDSLOTSRANGE", first, end - 1}
	}
	command := []any{"CLUSTER", "ADDSLOTS"}
	for slot := first; slot < end; slot++ {
		command = append(command, slot)
	}
	return command
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

// Slot is the slot of a key: CRC16 (XMODEM) of what stands in its first braces,
// or of all of it.
func Slot(key string) int {
	if _, rest, open := strings.Cut(key, "{"); open {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			if carry := crc&0x8000 != 0; carry {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % slots
}

// Owner is the place among Masters of the one that had the key's slot at first.
func (c *Cluster) Owner(key string) int {
	slot := Slot(key)
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
		if s.lives() {
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

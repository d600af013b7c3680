package redistest

import (
	"fmt"
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
	return startFor(t, func(dir string) (*Cluster, error) { return NewCluster(dir, opts) })
}

// NewCluster returns when each node finds the Cluster in order. Close ends it.
// Its files are in dir.
func NewCluster(dir string, opts ClusterOptions) (*Cluster, error) {
	opts.Data.cluster = true
	// news spreads within half of it
	opts.Data.Args = append([]string{"--cluster-node-timeout", "1000"}, opts.Data.Args...)
	c := &Cluster{group: group{dir: dir, data: opts.Data}, opts: opts}
	return c, c.assemble(steps{start: c.startNodes, wire: c.join, ready: c.Ready, stabilize: c.calm})
}

func (c *Cluster) startNodes() (err error) {
	if c.Masters, err = c.start(3, nil); err == nil {
		c.Replicas, err = c.start(3*c.opts.Replicas, nil)
	}
	return err
}

// calm gives each node the timeout that was wanted.
func (c *Cluster) calm() error {
	return each(c.servers, func(n *Server) error {
		_, err := n.Do("CONFIG", "SET", "cluster-node-timeout", afterMilliseconds(c.opts.NodeTimeout))
		return err
	})
}

// join gives each master its third of the slots, introduces all nodes to each
// other, and gives each master its replica.
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
			if _, err := n.Do("CLUSTER", "MEET", other.opts.On.IP(), other.port.number, other.bus.number); err != nil {
				return err
			}
		}
	}
	if err := Eventually(func() error { return each(c.servers, c.knowsAll) }); err != nil {
		return err
	}
	return c.follow()
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
		if err := isReplicaOf(r, c.Masters[i]); err != nil {
			return err
		}
		if err := hasReplicas(c.Masters[i], 1); err != nil {
			return err
		}
	}
	if err := each(c.servers, inOrder); err != nil {
		return err
	}
	return each(c.servers, c.showsReplicas)
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
	return c.data.url("redis+cluster", c.Addr()).String()
}

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

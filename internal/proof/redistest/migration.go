package redistest

import (
	"errors"
	"fmt"
)

// A Migration is a slot on its way from one master to another. While it is
// under way, the old one refers to the new one for keys that it has not got
// (ASK), and neither does a command whose keys are partly there (TRYAGAIN).
type Migration struct {
	cluster  *Cluster
	slot     int
	from, to *Server
	toID     string
}

// Migrate moves the slot of a key to another master, with all its keys.
func (c *Cluster) Migrate(key string, from, to *Server) error {
	m, err := c.BeginMigration(key, from, to)
	if err != nil {
		return err
	}
	return errors.Join(m.MoveKeys(), m.End())
}

// BeginMigration opens the slot of a key at both masters and moves no key yet.
func (c *Cluster) BeginMigration(key string, from, to *Server) (*Migration, error) {
	m := &Migration{cluster: c, slot: Slot(key), from: from, to: to}
	fromID, err := from.Do("CLUSTER", "MYID")
	if err != nil {
		return nil, err
	}
	toID, err := to.Do("CLUSTER", "MYID")
	if err != nil {
		return nil, err
	}
	m.toID = fmt.Sprint(toID)
	if _, err = to.Do("CLUSTER", "SETSLOT", m.slot, "IMPORTING", fromID); err == nil {
		_, err = from.Do("CLUSTER", "SETSLOT", m.slot, "MIGRATING", toID)
	}
	return m, err
}

// MoveKeys moves the keys that the slot has now.
func (m *Migration) MoveKeys() error {
	keys, err := m.from.Do("CLUSTER", "GETKEYSINSLOT", m.slot, 1000)
	if err != nil {
		return err
	}
	list, _ := keys.([]any)
	if len(list) == 0 {
		return nil
	}
	move := []any{"MIGRATE", m.to.opts.On.IP(), m.to.port.number, "", 0, patience.Milliseconds()}
	if p := m.cluster.data.Password; p != "" {
		move = append(move, "AUTH", p)
	}
	_, err = m.from.Do(append(append(move, "KEYS"), list...)...)
	return err
}

// End makes the new master the slot's owner, and returns when all nodes that
// live know.
func (m *Migration) End() error {
	for _, n := range append([]*Server{m.to, m.from}, m.cluster.Masters...) {
		if !n.lives() {
			continue
		}
		if _, err := n.Do("CLUSTER", "SETSLOT", m.slot, "NODE", m.toID); err != nil {
			return err
		}
	}
	return Eventually(func() error {
		return each(m.cluster.alive(), func(n *Server) error { return owns(n, m.toID, m.slot) })
	})
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"time"

	"redlockrun/internal/proof/redistest"
)

// overCluster is the same on three masters, and what the messages between them cost: each
// that a waiter gets goes to all of them.
func overCluster(s *scale) error {
	dir, err := os.MkdirTemp(s.dir, "cluster")
	if err != nil {
		return err
	}
	c, err := redistest.NewCluster(dir, redistest.ClusterOptions{})
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := s.rigOn(c.URL(), c.Masters...)
	if err != nil {
		return err
	}
	defer r.close()
	if s.figures.Cluster, err = r.stage(3000/s.divisor, waitersOf(3000/s.divisor)); err != nil {
		return err
	}
	s.figures.Cluster.Processes = len(r.processes)
	s.figures.Masters = nil
	var before []time.Duration
	for _, m := range c.Masters {
		before = append(before, processor(m.PID()))
	}
	time.Sleep(r.rest)
	for i, m := range c.Masters {
		s.figures.Masters = append(s.figures.Masters, node{
			Connections: int(info(m, "clients", "connected_clients:")), Memory: resident(m.PID()),
			Server: 100 * (processor(m.PID()) - before[i]).Seconds() / r.rest.Seconds(),
		})
	}
	s.figures.Message, err = messageCost(c)
	fmt.Printf("%+v\n%+v\n", s.figures.Masters, s.figures.Message)
	return err
}

// A message is what one takes of the processors of a Cluster's nodes, in µs.
type message struct {
	Sender   float64 `json:"sender"` // for each node that it is sent to
	Receiver float64 `json:"receiver"`
}

const manyMessages = 100_000

// messageCost has one node publish to nobody: the others hear of it.
func messageCost(c *redistest.Cluster) (message, error) {
	var before []time.Duration
	heard := clusterInfo(c.Masters[1], "cluster_stats_messages_publish_received:")
	for _, m := range c.Masters {
		before = append(before, processor(m.PID()))
	}
	for range 100 {
		if _, err := c.Masters[0].Do("EVAL", "for i = 1, ARGV[1] do redis.call('PUBLISH', 'nobody', 'p') end", 0,
			manyMessages/100); err != nil {
			return message{}, err
		}
	}
	err := redistest.Eventually(func() error {
		if n := clusterInfo(c.Masters[1], "cluster_stats_messages_publish_received:") - heard; n < manyMessages {
			return fmt.Errorf("%v of %d messages have come", n, manyMessages)
		}
		return nil
	})
	took := func(i int) float64 {
		return float64((processor(c.Masters[i].PID()) - before[i]).Microseconds()) / manyMessages
	}
	return message{Sender: took(0) / 2, Receiver: took(1)}, err
}

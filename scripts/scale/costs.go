//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
)

// A cost is what a step takes of a processor, in µs: the server's, and that of the load
// program, where that was measured too.
type cost struct {
	Renewal    float64 `json:"renewal"`
	OwnRenewal float64 `json:"renewal_load"`
	Look       float64 `json:"look"`
	Run        float64 `json:"acquire_and_release"`
	HandOver   float64 `json:"hand_over"`
	Limit      []rate  `json:"limit"` // renewals of leases of 3 s, more and more
}

// A rate is how many renewals a second a server was asked for, and what came of it.
type rate struct {
	Renewals float64 `json:"renewals"`
	Server   float64 `json:"server_cpu"`
	Load     float64 `json:"load_cpu"`
	P99      float64 `json:"p99"`
	Failed   int     `json:"failed"`
	Lost     int     `json:"lost"`
}

// costs measures what each kind of step takes, by itself.
func costs(s *scale) error {
	r, err := s.rig("--maxclients", "19000")
	if err != nil {
		return err
	}
	defer r.close()
	c := cost{}
	for _, measure := range []func(*rig, *cost) error{lookCost, handOverCost, runCost, renewalCosts} {
		if err := measure(r, &c); err != nil {
			return err
		}
	}
	fmt.Printf("%+v\n", c)
	s.figures.Costs = c
	return nil
}

// within is what the server and the load take of a processor while something is done, in µs.
func (r *rig) within(do func() error) (server, load float64, between [2]reading, err error) {
	if between[0], err = r.read(); err != nil {
		return 0, 0, between, err
	}
	if err = do(); err != nil {
		return 0, 0, between, err
	}
	between[1], err = r.read()
	a, b := between[0], between[1]
	return float64((b.server - a.server).Microseconds()), float64((b.load - a.load).Microseconds()), between, err
}

// lookCost is with waiters alone, of one line.
func lookCost(r *rig, c *cost) error {
	waiters := 1000 / r.divisor
	if _, err := r.loads[0].order(order{Do: "line", Count: 1, Depth: waiters, TTL: minute}); err != nil {
		return err
	}
	server, _, at, err := r.within(func() error { time.Sleep(r.rest); return nil })
	c.Look = server / (at[1].steps - at[0].steps)
	return err
}

func handOverCost(r *rig, c *cost) error {
	var a answer
	server, _, _, err := r.within(func() (err error) {
		a, err = r.loads[0].order(order{Do: "pass", Count: 1, Every: time.Millisecond, For: tryFor})
		return err
	})
	c.HandOver = server / float64(len(a.Took))
	return err
}

// runCost is of a run for whose lock nobody else asks: connecting, acquire, release.
func runCost(r *rig, c *cost) error {
	store, err := line.Open(lock.Servers{URLs: []string{r.url}, Prefix: lock.DefaultPrefix})
	if err != nil {
		return err
	}
	defer store.Close()
	n := 0
	server, _, _, err := r.within(func() error {
		for end := time.Now().Add(tryFor); time.Now().Before(end); n++ {
			lease, err := store.Acquire(context.Background(), request(fmt.Sprintf("free-%d", n%100), minute, 0))
			if err != nil {
				return err
			}
			if err := lease.Release(context.Background(),
				lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}); err != nil {
				return err
			}
		}
		return nil
	})
	c.Run = server / float64(n)
	return err
}

// short is a ttl by which few holders make many renewals.
const short = 3 * time.Second

// renewalCosts lets ever more leases be renewed every second, until some are lost.
func renewalCosts(r *rig, c *cost) error {
	held := 0
	for _, n := range []int{1000, 2000, 4000, 6000, 8000, 10000, 12000, 14000} {
		n /= r.divisor
		each := (n - held) / 2
		orders := []order{{Do: "hold", First: held, Count: each, TTL: short},
			{Do: "hold", First: held + each, Count: each, TTL: short}}
		if _, err := r.all(orders...); err != nil {
			fmt.Println("acquire more:", err) // that is what breaks
		}
		held = n
		server, load, at, err := r.within(func() error { time.Sleep(r.rest / 2); return nil })
		if err != nil {
			return err
		}
		a, b := at[0].told, at[1].told
		us, done := float64(at[1].at.Sub(at[0].at).Microseconds()), float64(b.Renewals-a.Renewals)
		x := rate{1e6 * done / us, 100 * server / us, 100 * load / us, percentile(b.Renewing, 99), b.Failed - a.Failed,
			b.Lost}
		fmt.Printf("%+v\n", x)
		c.Limit = append(c.Limit, x)
		if len(c.Limit) == 2 {
			c.Renewal, c.OwnRenewal = server/done, load/done
		}
		if b.Lost > 0 {
			break
		}
	}
	return nil
}

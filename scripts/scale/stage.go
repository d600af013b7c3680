//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/redistest"
)

// stage measures what there is: first left alone, then with acquires, hand-overs and
// status, one kind after the other.
func (r *rig) stage(holders, waiters int) (st stage, err error) {
	start := time.Now()
	if err := r.grow(holders, waiters); err != nil {
		return st, fmt.Errorf("grow to %d holders and %d waiters: %w", holders, waiters, err)
	}
	st = stage{Holders: holders, Waiters: waiters, Grown: time.Since(start).Seconds()}
	for _, measure := range []func(*stage) error{r.leftAlone, r.acquires, r.handOvers, r.statuses} {
		if err := measure(&st); err != nil {
			return st, err
		}
	}
	sum, err := r.tell()
	st.Lost, st.Failed = sum.Lost, sum.Failed
	fmt.Printf("%+v\n", st)
	return st, err
}

// leftAlone is what holding and waiting cost.
func (r *rig) leftAlone(st *stage) error {
	before, err := r.read()
	if err != nil {
		return err
	}
	time.Sleep(r.rest)
	after, err := r.read()
	if err != nil {
		return err
	}
	took := after.at.Sub(before.at).Seconds()
	renewing := float64(after.told.Renewals-before.told.Renewals) / took
	inLoads := float64(r.holders + r.lines)
	st.Renewals = renewing * float64(st.Holders) / inLoads // those of the real redlockruns come in the same time
	st.Steps = (after.steps - before.steps) / took
	st.Server = 100 * (after.server - before.server).Seconds() / took
	st.Load = 100 * (after.load - before.load).Seconds() / took
	st.Memory, st.LoadMemory = after.memory, after.ownBytes
	st.Connections = r.connections()
	st.Renewing = percentile(after.told.Renewing, 99)
	st.Sent, st.Received = (after.sent-before.sent)/took, (after.received-before.received)/took
	return nil
}

// tryFor is how long acquires, and then hand-overs, are made.
const tryFor = 8 * time.Second

// acquires measures those of a lock that is free, each with a connection of its own.
func (r *rig) acquires(st *stage) error {
	store, err := line.Open(lock.Servers{URLs: []string{r.url}, Prefix: lock.DefaultPrefix})
	if err != nil {
		return err
	}
	defer store.Close()
	var took []float64
	for end := time.Now().Add(tryFor); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		start := time.Now()
		lease, err := store.Acquire(context.Background(), request(fmt.Sprintf("free-%d", len(took)%100), minute, 0))
		if err != nil {
			return fmt.Errorf("acquire a free lock: %w", err)
		}
		took = append(took, since(start))
		if err := lease.Release(context.Background(),
			lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}); err != nil {
			return err
		}
	}
	st.Acquire = spreadOf(took)
	return nil
}

// handOvers measures those of the long line, which one process has, and of short ones.
func (r *rig) handOvers(st *stage) error {
	pace := 8 * time.Millisecond
	a, err := r.loads[0].order(order{Do: "pass", First: 0, Count: 1, Every: pace, For: tryFor / 2})
	if err != nil {
		return err
	}
	st.LongLine = spreadOf(a.Took)
	if a, err = r.loads[1].order(order{Do: "pass", First: 0, Count: r.loads[1].lines, Every: pace,
		For: tryFor / 2}); err != nil {
		return err
	}
	st.HandOver = spreadOf(a.Took)
	return nil
}

const (
	lookOnce  = 100 // how often the status of one job is asked for
	lookAtAll = 5   // and of all
)

// statuses measures the command as it is typed, start of the process included.
func (r *rig) statuses(st *stage) error {
	var one, all []float64
	for i := range lookOnce {
		took, err := r.status(fmt.Sprintf("job-%05d", i%r.holders))
		if err != nil {
			return err
		}
		one = append(one, took)
	}
	for range lookAtAll {
		took, err := r.status()
		if err != nil {
			return err
		}
		all = append(all, took)
	}
	st.Status, st.StatusOfAll = spreadOf(one), percentile(all, 50)
	return nil
}

func (r *rig) status(names ...string) (float64, error) {
	start := time.Now()
	out, err := exec.Command(r.program, append([]string{"status", "--redis", r.url}, names...)...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("status %v: %w: %s", names, err, out)
	}
	return since(start), nil
}

func spreadOf(took []float64) spread {
	return spread{percentile(took, 50), percentile(took, 99), len(took)}
}

// percentile is the least of some of which so many per cent are at most that.
func percentile(some []float64, p int) float64 {
	if len(some) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(some))
	return sorted[(len(sorted)*p+99)/100-1]
}

// clusterInfo is a number of CLUSTER INFO, 0 where there is none.
func clusterInfo(s *redistest.Server, field string) float64 {
	reply, _ := s.Do("CLUSTER", "INFO")
	text, _ := reply.(string)
	return numberIn(text, field)
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"redlockrun/internal/proof/redistest"
)

// A host starts one job after the other, each under the lock, until it is told to stop.
type host struct {
	round *round
	side  side
	draw  *rand.Rand

	mu   sync.Mutex
	long float64 // seconds that the next job takes; 0: what is drawn
}

// A job is one of a host's, under the lock or waiting for it.
type job struct {
	id    string
	long  bool
	cmd   *exec.Cmd
	ended chan struct{}
}

// work is the life of a host.
func (h *host) work(ctx context.Context) error {
	for ; !h.round.stopped() && ctx.Err() == nil; last(ctx, time.Duration(h.draw.Int64N(int64(200*time.Millisecond)))) {
		think, long := h.next()
		j, err := h.start(think, long)
		if err != nil {
			return err
		}
		<-j.ended
		if ctx.Err() == nil {
			h.round.end(j)
		}
	}
	return nil
}

// orderLong makes the next job of the host one that takes so many seconds.
func (h *host) orderLong(seconds float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.long = seconds
}

func (h *host) next() (think float64, long bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if think, h.long = h.long, 0; think > 0 {
		return think, true
	}
	return 0.05 + 0.25*h.draw.Float64(), false
}

func (h *host) start(think float64, long bool) (*job, error) {
	r := h.round
	j := &job{id: r.nextID(), long: long, ended: make(chan struct{})}
	words := append(r.lane.row.words(r.lane), r.lane.tools.job, r.dir, j.id, strconv.FormatFloat(think, 'f', 3, 64))
	if check := r.lane.row.check; check != "" {
		words = append(words, check)
	}
	j.cmd = h.side.of(r.place.cable).Command(words[0], words[1:]...)
	said, err := os.Create(r.said(j)) // a pipe would end with the holder, and the job that it leaves with it
	if err != nil {
		return nil, err
	}
	defer said.Close()
	j.cmd.Stdout, j.cmd.Stderr, j.cmd.Dir = said, said, r.dir
	j.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/", "REDLOCKRUN_CONFIG=/dev/null", r.mark},
		r.place.variables(h.side)...)
	if err := redistest.StartBound(j.cmd); err != nil {
		return nil, fmt.Errorf("start %q: %w", words, err)
	}
	r.began(j)
	go func() { _ = j.cmd.Wait(); close(j.ended) }()
	return j, nil
}

func (j *job) over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

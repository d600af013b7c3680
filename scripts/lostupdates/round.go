//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// hostsOfRow is how many contend, every second of them on the far side.
	hostsOfRow = 5

	// enough is how many updates have to be acknowledged before a fault, and again after it.
	enough = 3

	// patience bounds each wait: much more than a loaded machine needs.
	patience = 2 * time.Minute

	// hanging is how long who waits for a lock may do so when nobody asks for it any more.
	hanging = 45 * time.Second
)

// A round is one fault and its data: hosts begin, the fault comes while a job has read and
// not written, all goes on for a while, and when nobody is left the data are looked at.
type round struct {
	lane  *lane
	fault fault
	place *place
	dir   string // of the data
	mark  string // in the environment of all that runs for it
	draw  *rand.Rand
	hosts []*host

	read, ended time.Time // of the victim, about: it had read, and had ended

	mu     sync.Mutex
	stop   bool
	issued int
	acked  []string
	long   *job   // the last long one that was started
	failed string // what the last job said that was not acknowledged
}

// An outcome is what came of a round.
type outcome struct {
	acked, lost int
	hung        bool          // somebody waited on for a lock that was free, and was killed at the end
	struck      bool          // the fault came while the victim had read and not written
	stood       time.Duration // the machine itself stood still for so long
}

func (r *round) run(ctx context.Context) (o outcome, err error) {
	if err := r.prepare(ctx); err != nil {
		return o, err
	}
	began := time.Now()
	if o.struck, o.hung, err = r.crowd(ctx); err != nil {
		return o, err
	}
	late := r.lane.late
	o.stood = max(late.between(r.read, r.ended, tolerable), late.between(began, time.Now(), renewable))
	o.acked, o.lost, err = r.compare(ctx)
	return o, err
}

// crowd lets the hosts work while the fault comes, and returns when nothing of them is left.
func (r *round) crowd(ctx context.Context) (struck, hung bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := r.populate(ctx, cancel)
	if struck, err = r.disturb(ctx); err != nil {
		cancel(err)
	}
	r.halt()
	hung = !until(ctx, hanging, func() bool { return over() && len(marked(r.mark)) == 0 })
	if !until(context.Background(), patience,
		func() bool { kill(marked(r.mark)); return over() && len(marked(r.mark)) == 0 }) {
		cancel(errors.New("somebody does not end"))
	}
	return struck, hung, context.Cause(ctx)
}

// populate starts the hosts. over reports whether all have stopped.
func (r *round) populate(ctx context.Context, cancel context.CancelCauseFunc) (over func() bool) {
	var working atomic.Int32
	for i := range hostsOfRow {
		h := &host{round: r, side: side(i % 2), draw: rand.New(rand.NewPCG(r.draw.Uint64(), r.draw.Uint64()))}
		r.hosts = append(r.hosts, h)
		working.Add(1)
		go func() {
			defer working.Add(-1)
			if err := h.work(ctx); err != nil {
				cancel(err)
			}
		}()
	}
	return func() bool { return working.Load() == 0 }
}

// disturb goes through the round with the hosts at work.
func (r *round) disturb(ctx context.Context) (struck bool, err error) {
	if err := r.more(ctx); err != nil {
		return false, err
	}
	victim, err := r.victim(ctx)
	if err != nil {
		return false, err
	}
	r.read = time.Now()
	struck = true
	if r.fault.strike != nil {
		last(ctx, time.Duration(r.draw.Float64()*r.fault.after*float64(time.Second)))
		struck = !victim.over() && !r.noted(victim.id, "wrote")
		s := &strike{place: r.place, victim: victim.cmd.Process.Pid, draw: r.draw}
		if err := r.fault.strike(ctx, s); err != nil {
			return struck, fmt.Errorf("%s: %w", r.fault.name, err)
		}
	}
	if !until(ctx, patience, victim.over) {
		return struck, errors.Join(errors.New("the victim does not end"), context.Cause(ctx))
	}
	r.ended = time.Now()
	return struck, r.more(ctx)
}

// victim is a long job of a host that the fault is for, as soon as it has read.
func (r *round) victim(ctx context.Context) (*job, error) {
	at, to := r.fault.think[0], r.fault.think[1]
	for range 20 { // it may not get the lock
		h := r.hosts[int(r.fault.on)+2*r.draw.IntN(hostsOfRow/2)]
		before := r.longest()
		h.orderLong(at + (to-at)*r.draw.Float64())
		var j *job
		if !until(ctx, patience, func() bool {
			j = r.longest()
			return j != before && (j.over() || r.noted(j.id, "read"))
		}) {
			break
		}
		if r.noted(j.id, "read") {
			return j, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("no job becomes the victim: %s", r.complaint()), context.Cause(ctx))
}

// more waits until some further updates are acknowledged.
func (r *round) more(ctx context.Context) error {
	want := r.count() + enough
	if !until(ctx, patience, func() bool { return r.count() >= want }) {
		return errors.Join(fmt.Errorf("jobs do not get through: %s", r.complaint()), context.Cause(ctx))
	}
	return nil
}

// noted reports whether a job has written a word of its own into the journal.
func (r *round) noted(id, word string) bool {
	text, _ := os.ReadFile(filepath.Join(r.dir, "journal"))
	return strings.Contains("\n"+string(text), "\n"+id+" "+word+"\n")
}

func (r *round) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stop
}

func (r *round) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = true
}

func (r *round) nextID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.issued++
	return strconv.Itoa(r.issued)
}

func (r *round) began(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.long {
		r.long = j
	}
}

func (r *round) longest() *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.long
}

// end takes note of a job that has ended.
func (r *round) end(j *job) {
	acknowledged := j.cmd.ProcessState.Success() && r.noted(j.id, "wrote")
	r.mu.Lock()
	defer r.mu.Unlock()
	if acknowledged {
		r.acked = append(r.acked, j.id)
	} else {
		text, _ := os.ReadFile(r.said(j))
		r.failed = fmt.Sprintf("%s: %s", j.cmd.ProcessState, strings.TrimSpace(string(text)))
	}
}

// said is the file for what a job and its holder say.
func (r *round) said(j *job) string { return filepath.Join(r.dir, "said-"+j.id) }

func (r *round) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.acked)
}

func (r *round) complaint() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

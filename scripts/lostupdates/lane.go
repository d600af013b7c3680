//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"redlockrun/internal/proof/ability"
)

// A lane is the rounds of one row, one after the other.
type lane struct {
	plan  *plan
	row   row
	dir   string
	tools *tools
	late  *lateness

	cables bool
	place  *place // that of all faults but failovers
	rounds int
}

// A tally is what came of a row.
type tally struct {
	row      row
	outcomes map[string][]outcome // of each fault that it met, by name
	cables   bool
}

func (l *lane) run(ctx context.Context) (*tally, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	l.cables = ability.Networks.Try() == nil
	draw := rand.New(rand.NewPCG(l.plan.seed,
		uint64(slices.IndexFunc(rows(), func(r row) bool { return r.name == l.row.name }))))
	t := &tally{row: l.row, outcomes: map[string][]outcome{}, cables: l.cables}
	var err error
	if l.place, err = open(ctx, l.dir, l.row.store, l.cables); err == nil {
		err = l.all(ctx, draw, t)
	}
	l.place.close()
	return t, err
}

// all goes through the faults again and again, each time in another order.
func (l *lane) all(ctx context.Context, draw *rand.Rand, t *tally) error {
	for range l.plan.times {
		for _, i := range draw.Perm(len(l.plan.faults)) {
			if f := l.plan.faults[i]; f.meets(l.row, l.cables) {
				if err := l.fault(ctx, f, draw, t); err != nil {
					return fmt.Errorf("round %d, %s: %w", l.rounds, f.name, err)
				}
			}
		}
	}
	return nil
}

// fault runs a round, and another one in the place of one that tells too little: the fault came
// too late, or the machine stood still and what holds inside the assumptions was asked. The short
// form takes what it gets.
func (l *lane) fault(ctx context.Context, f fault, draw *rand.Rand, t *tally) error {
	for range 4 {
		o, err := l.one(ctx, f, draw)
		if err != nil {
			return err
		}
		t.outcomes[f.name] = append(t.outcomes[f.name], o)
		fmt.Fprintf(os.Stderr, "lostupdates: %-10s %-12s lost %2d of %3d%s\n", l.row.name, f.name, o.lost, o.acked,
			o.remark())
		if path := l.plan.earlier; path != "" {
			if err := keep(path, l.row.name, f.name, o); err != nil {
				return err
			}
		}
		if o.struck && (o.stood == 0 || !f.inside || l.plan.short) {
			break
		}
	}
	return nil
}

func (o outcome) remark() string {
	text := ""
	if !o.struck {
		text += ", too late"
	}
	if o.hung {
		text += ", somebody hung"
	}
	if o.stood > 0 {
		text += fmt.Sprintf(", the machine stood still for %s", o.stood.Round(time.Millisecond))
	}
	return text
}

func (l *lane) one(ctx context.Context, f fault, draw *rand.Rand) (o outcome, err error) {
	l.rounds++
	r := &round{lane: l, fault: f, place: l.place, draw: draw,
		dir:  filepath.Join(l.dir, fmt.Sprint("round-", l.rounds)),
		mark: fmt.Sprintf("LOSTUPDATES=%d-%s-%d", os.Getpid(), l.row.name, l.rounds)}
	if f.watch {
		dir := r.dir + "-sentinel"
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return o, err
		}
		r.place, err = openWatched(dir)
		defer r.place.close()
		if err != nil {
			return o, err
		}
	}
	return r.run(ctx)
}

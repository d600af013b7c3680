package quorum

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

// An operator changes jobs whose locks are in several independent servers: each of them is
// asked for every change, and it is made when a majority has made it.
type operator struct {
	quorum  *quorum
	sources []addressed
	prefix  string
	lock.Inspection
}

// An addressed is a source by its name.
type addressed struct{ *link.Source }

func (a addressed) Address() string { return a.Source.Address().String() }

// OpenOperator returns what changes the jobs of several independent servers. It asks nobody;
// its errors are those of Open.
func OpenOperator(cfg lock.Servers, i lock.Inspection) (lock.Operator, error) {
	sources, addresses, err := sourcesOf(cfg)
	if err != nil {
		return nil, err
	}
	q, err := newQuorum(addresses, nil, nil)
	if err != nil {
		return nil, err
	}
	i.Complete()
	o := &operator{quorum: q, prefix: cfg.Prefix, Inspection: i}
	for _, src := range sources {
		o.sources = append(o.sources, addressed{src})
	}
	return o, nil
}

// Change implements lock.Operator. What depends on who has the lock is preceded by a look:
// each master knows but its own part of that.
func (o *operator) Change(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	switch c.Act {
	case lock.ActStop:
		return o.stop(ctx, name, c)
	case lock.ActUnlock:
		return o.free(ctx, name, c)
	case lock.ActForget:
		return o.forget(ctx, name, c)
	case lock.ActPause:
		return o.pause(ctx, name, c)
	}
	return o.resume(ctx, name, c)
}

// pause makes or completes a pause. One that a majority has is left as it is; one that has ended, and of which a master
// has not heard, gives way.
func (o *operator) pause(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	args := []any{wire.PauseText(c.By.Run, c.By, c.Reason), wire.PauseLength(c.For)}
	s, err := o.ask(ctx, name, c, args...)
	if err != nil {
		return lock.ChangeResult{}, err
	}
	if ended := s.leftOver(); len(ended) > 0 {
		if err := o.note(ctx, name, c, ended, 0); err != nil {
			return lock.ChangeResult{}, lock.Unconfirmed(err, true)
		}
		if s, err = o.ask(ctx, name, c, args...); err != nil {
			return lock.ChangeResult{}, lock.Unconfirmed(err, true)
		}
	}
	return s.outcome(s.count(step.Already) < s.need(), step.Changed, step.Already)
}

func (o *operator) resume(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	s, err := o.ask(ctx, name, c, link.Digit(c.MatchReason), wire.WhyText(c.PauseReason))
	if err != nil {
		return lock.ChangeResult{}, err
	}
	s.leaves = true
	out, err := s.outcome(s.count(step.Changed) > 0, step.Nothing, step.Changed)
	if err == nil && len(s.absent) > 0 {
		o.noteEnd(ctx, name, c, s)
	}
	return out, err
}

// noteEnd notes at the masters that can be reached that a majority has ended the pauses that were there, for those that
// were away; and when a majority has noted it, that too: then one of them is enough for a run to end what is left. If
// that
// fails, a pause may go on where it is until it is ended once more.
func (o *operator) noteEnd(ctx context.Context, name string, c lock.Change, s *changeTally) {
	var ends, granted []lock.PauseEnd
	var life time.Duration
	for _, r := range s.replies {
		p := wire.ReadPause(r.Pause)
		if r.Code != step.Changed || p == nil || slices.Contains(granted, lock.PauseEnd{ID: p.ID}) {
			continue
		}
		granted = append(granted, lock.PauseEnd{ID: p.ID})
		for _, master := range s.absent {
			ends = append(ends, lock.PauseEnd{ID: p.ID, Master: master})
		}
		life = max(life, remaining(p, r.Now))
	}
	if len(ends) > 0 && o.note(ctx, name, c, ends, life) == nil {
		o.note(ctx, name, c, granted, life)
	}
}

// note has a majority note ends of pauses.
func (o *operator) note(ctx context.Context, name string, c lock.Change, ends []lock.PauseEnd,
	life time.Duration) error {
	c.Act = noting
	_, err := o.ask(ctx, name, c, wire.PauseEndsText(ends), lock.Milliseconds(life))
	return err
}

// longestNoted is for how long it is remembered that a pause without an end has ended.
const longestNoted = wire.Remembered

// remaining is for how long a pause goes on where its end was not heard, from now, ms of the master's clock. Other
// masters'
// clocks may be late.
func remaining(p *lock.PauseMark, now int64) time.Duration {
	if p.Until.IsZero() {
		return longestNoted
	}
	return min(longestNoted, max(0, p.Until.Sub(time.UnixMilli(now)))+time.Hour)
}

// stop marks the run that a majority has, nobody else's.
func (o *operator) stop(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	if c.ThenPause {
		pause := c
		pause.Act = lock.ActPause
		if _, err := o.pause(ctx, name, pause); err != nil {
			return lock.ChangeResult{}, err
		}
	}
	if c.Run == "" {
		s, err := o.look(ctx, name, c)
		if err != nil {
			return lock.ChangeResult{}, err
		}
		switch c.Run = s.holder(); c.Run {
		case noHolder, byPause:
			return s.changed(false), nil
		case byForeign:
			return lock.ChangeResult{}, s.refused(lock.NotOurs)
		}
	}
	s, err := o.ask(ctx, name, c, c.Run, "", 0)
	if err != nil {
		return lock.ChangeResult{}, err
	}
	if s.has(c.Run) {
		s.of = c.Run
	}
	switch {
	case s.count(step.Changed) > 0 && s.count(step.Changed, step.Already)+len(s.absent) < s.need():
		return s.changed(true), nil // it has given the lock back since
	case s.count(step.RunOver) > 0:
		return s.changed(false), nil
	}
	return s.outcome(s.count(step.Already) < s.need(), step.Changed, step.Already)
}

// free takes the lock from a run at each master that it has. That the run has ended may be
// known to one of them alone.
func (o *operator) free(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	if c.OnlyEnded {
		s, err := o.look(ctx, name, c)
		switch {
		case err != nil:
			return lock.ChangeResult{}, err
		case !s.has(c.Run):
			return lock.ChangeResult{}, s.refused(lock.OtherRun)
		case !s.ended(c.Run):
			return lock.ChangeResult{}, s.refused(lock.StillRunning)
		}
	}
	s, err := o.ask(ctx, name, c, c.Run, 0)
	if err != nil {
		return lock.ChangeResult{}, err
	}
	if s.count(step.Changed) > 0 {
		if err := o.freeAgain(ctx, name, c); err != nil {
			return lock.ChangeResult{}, err
		}
		s.of = cmp.Or(c.Run, byForeign)
		return s.outcome(true, step.Changed, step.Nothing, lock.OtherRun.Code(), lock.StillPaused.Code())
	}
	return s.outcome(false, step.Nothing)
}

// freeAgain takes what a run got back while it was freed at one master after the other, as it
// does if it renews just then.
func (o *operator) freeAgain(ctx context.Context, name string, c lock.Change) error {
	for {
		s, err := o.look(ctx, name, c)
		if err != nil || c.Run == "" || !s.has(c.Run) {
			return err
		}
		if _, err := o.ask(ctx, name, c, c.Run, 0); err != nil {
			return err
		}
	}
}

// forget is done when all masters have done it: of what one remembers the job still is known.
func (o *operator) forget(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	s, err := o.look(ctx, name, c)
	if err != nil {
		return lock.ChangeResult{}, err
	}
	switch holder := s.holder(); {
	case holder == byPause || s.paused():
		return lock.ChangeResult{}, s.refused(lock.StillPaused)
	case holder != noHolder && !s.ended(holder):
		return lock.ChangeResult{}, s.refused(lock.StillHeld)
	}
	if s, err = o.ask(ctx, name, c); err != nil {
		return lock.ChangeResult{}, err
	}
	s.all = true
	return s.outcome(s.count(step.Changed) > 0, step.Nothing, step.Changed)
}

// look asks who has the lock, and changes nothing.
func (o *operator) look(ctx context.Context, name string, c lock.Change) (*changeTally, error) {
	c.Act = step.Look
	return o.ask(ctx, name, c)
}

// ask has all masters make a step, with what its act wants to be told.
func (o *operator) ask(ctx context.Context, name string, c lock.Change, more ...any) (*changeTally, error) {
	keys := wire.KeysOf(o.prefix, name, c.By.Run)
	by := step.Asker{Run: c.By.Run, History: lock.ActHistory, Words: wire.HolderText(c.By, lock.Slot{}), Name: name,
		Names: keys.Jobs}
	args := by.Args(append([]any{wire.Word(wire.WhyText(c.Reason))}, more...)...)
	change := changeStep(c.Act)
	answers := askAll(ctx, o.sources, o.Timeout, func(ctx context.Context, src addressed) (changeReply, error) {
		l := src.Fresh(ctx).Link(context.WithoutCancel(ctx), keys.Lock, nil, o.Draw)
		defer l.Close()
		reply, unconfirmed, err := change.Persist(ctx, l, lock.RetryPolicy{Total: o.Timeout, Draw: o.Draw},
			keys.OfOperator(), args...)
		return changeReply{ChangeReply: reply}.resolvedBy(c, unconfirmed),
			lock.Unconfirmed(err, unconfirmed && c.Act != step.Look)
	})
	if ctx.Err() != nil {
		return nil, lock.Unconfirmed(context.Cause(ctx), slices.ContainsFunc(answers, mayBeDone))
	}
	return tallied(o.quorum, name, keys, answers)
}

// mayBeDone reports whether a master has made a change, or may have.
func mayBeDone(a masterReply[changeReply]) bool {
	return a.err == nil && a.answer.Code == step.Changed || errors.As(a.err, new(*lock.UnconfirmedError))
}

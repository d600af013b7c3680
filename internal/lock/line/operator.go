package line

import (
	"context"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

// An operator changes jobs whose locks are in one Redis.
type operator struct {
	source *link.Source
	prefix string
	lock.Inspection
}

// OpenOperator returns what changes the jobs that one URL leads to. It asks nobody; its
// errors are those of Open.
func OpenOperator(cfg lock.Servers, i lock.Inspection) (lock.Operator, error) {
	src, err := sourceOf(cfg)
	if err != nil {
		return nil, err
	}
	i.Complete()
	return &operator{src, cfg.Prefix, i}, nil
}

// Change implements lock.Operator.
func (o *operator) Change(ctx context.Context, name string, c lock.Change) (lock.ChangeResult, error) {
	keys := wire.KeysOf(o.prefix, name, c.By.Run)
	l := o.source.Fresh(ctx).Link(context.WithoutCancel(ctx), keys.Lock, nil, o.Draw)
	defer l.Close()
	names := keys.Jobs
	if o.source.Address().IsCluster() {
		names = ""
	}
	patience := lock.RetryPolicy{Total: o.Timeout, Draw: o.Draw}
	by := step.Asker{Run: c.By.Run, History: lock.ActHistory, Words: wire.HolderText(c.By, lock.Slot{}), Name: name,
		Names: names}
	args := by.Args(append([]any{wire.Word(wire.WhyText(c.Reason))}, more(c)...)...)
	reply, unconfirmed, err := changeStep(c.Act).Persist(ctx, l, patience, keys.OfOperator(), args...)
	if err != nil {
		return lock.ChangeResult{}, lock.Unconfirmed(err, unconfirmed)
	}
	if names == "" && reply.Code >= step.Nothing {
		o.relist(ctx, keys.Jobs, name, c, patience)
	}
	return judge(name, keys, c, reply, unconfirmed)
}

// more are the arguments of each act.
func more(c lock.Change) []any {
	switch c.Act {
	case lock.ActPause:
		return []any{wire.PauseText(c.By.Run, c.By, c.Reason), wire.PauseLength(c.For)}
	case lock.ActResume:
		return []any{link.Digit(c.MatchReason), wire.WhyText(c.PauseReason)}
	case lock.ActStop:
		if !c.ThenPause {
			return []any{c.Run, "", 0}
		}
		return []any{c.Run, wire.PauseText(c.By.Run, c.By, c.Reason), wire.PauseLength(c.For)}
	case lock.ActUnlock:
		return []any{c.Run, link.Digit(c.OnlyEnded)}
	}
	return nil
}

// judge says what a reply means. A change whose first try got no answer, and is no longer
// to be done, has been done by that.
func judge(name string, keys wire.Keys, c lock.Change, r step.ChangeReply, unconfirmed bool) (lock.ChangeResult,
	error) {
	if r.Code == step.Wrong {
		return lock.ChangeResult{}, &lock.NotLockError{Key: keys.All()[r.Key], What: lock.TypeName(r.Kind)}
	}
	out := lock.ChangeResult{Done: r.Code == step.Changed, Now: time.UnixMilli(r.Now), Pause: wire.ReadPause(r.Pause),
		Ran: r.Ran}
	out.Holder, out.At, _ = wire.ReadHeld(r.Held)
	if wire.ReadPause(r.Held) != nil {
		out.Holder, out.At = lock.Holder{}, time.Time{}
	}
	switch r.Left {
	case -2: // there was no lock
	case -1:
		out.Left = -1
	default:
		out.Left = time.Duration(r.Left) * time.Millisecond
	}
	if r.Next != "" {
		out.Next = wire.ReadWaiter(r.Next, r.Entry)
	}
	refused := lock.ObjectionOf(r.Code)
	out.Unconfirmed = unconfirmed && ambiguous(c, r, out)
	switch {
	case unconfirmed && repeated(c, r, out):
		out.Done = true
		if c.Act == lock.ActUnlock { // it is another's by now
			out.Holder, out.At, out.Left = lock.Holder{}, time.Time{}, 0
		}
	case refused != 0:
		return lock.ChangeResult{}, &lock.RefusedError{Name: name, Refusal: refused, ChangeResult: out}
	}
	return out, nil
}

// repeated reports whether what a reply says can be this very change's doing.
func repeated(c lock.Change, r step.ChangeReply, out lock.ChangeResult) bool {
	switch c.Act {
	case lock.ActPause:
		return out.Pause != nil && out.Pause.ID == c.By.Run
	case lock.ActStop:
		return r.Code == step.Already && out.Holder.Stop == c.By.Run
	}
	return ambiguous(c, r, out)
}

// ambiguous reports whether a reply looks as if this very change had been made before, and its answer lost, and does
// not tell it from another's.
func ambiguous(c lock.Change, r step.ChangeReply, out lock.ChangeResult) bool {
	switch c.Act {
	case lock.ActPause:
		return false
	case lock.ActStop:
		return r.Code == step.Nothing || r.Code == step.RunOver || lock.ObjectionOf(r.Code) == lock.OtherRun
	case lock.ActUnlock:
		return r.Code == step.Nothing || lock.ObjectionOf(r.Code) == lock.OtherRun && out.Holder.Run != c.Run
	}
	return r.Code == step.Nothing
}

// relist does what a change does to the names, which in a Cluster live in a slot of their own.
func (o *operator) relist(ctx context.Context, names, name string, c lock.Change, p lock.RetryPolicy) {
	if c.Act != lock.ActForget && c.Act != lock.ActPause && !c.ThenPause {
		return
	}
	l := o.source.Fresh(ctx).Link(context.WithoutCancel(ctx), names, nil, o.Draw)
	defer l.Close()
	if c.Act == lock.ActForget {
		delist.Persist(ctx, l, p, []string{names}, name)
	} else {
		enlist.Persist(ctx, l, p, []string{names}, name, wire.Remembered.Milliseconds())
	}
}

var delist = link.NewScript("ZREM", readNothing, "redis.call('ZREM', KEYS[1], ARGV[1]) return {1}")

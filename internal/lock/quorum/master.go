package quorum

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/ledger"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/step"
	"redlockrun/internal/lock/wire"
)

// The steps of a master, each atomic in the server.
var (
	//go:embed term.lua
	termLua string
	//go:embed unconfirmed.lua
	unconfirmedLua string
	//go:embed ended.lua
	endedLua string
	//go:embed grant.lua
	grantLua string
	//go:embed bump.lua
	bumpLua string
	//go:embed renew.lua
	renewLua string
	//go:embed repair.lua
	repairLua string
	//go:embed release.lua
	releaseLua string
)

// recording is a step that reads and writes what lies beside the lock, too.
func recording[R any](read func(*link.Reply) R, texts ...string) link.Script[R] {
	return link.NewScript("GETRANGE", read, append([]string{
		step.Prelude, termLua, ledger.Slots, ledger.OwnSlot, ledger.Ledger, ledger.Opening, ledger.Closing,
		unconfirmedLua,
	}, texts...)...)
}

// steps are what a master is sent. A test sets those of another release.
type steps struct {
	grant   link.Script[grantReply]
	bump    link.Script[bool]
	renew   link.Script[renewReply]
	repair  link.Script[wire.Ownership]
	release link.Script[wire.Ownership]
}

// present are the steps of this release.
var present = steps{
	grant:   recording(readGrant, step.Pauses, endedLua, grantLua),
	bump:    link.NewScript("GETRANGE", readBump, step.Prelude, termLua, bumpLua),
	renew:   link.NewScript("GETRANGE", readRenew, step.Prelude, termLua, renewLua),
	repair:  recording(readRepair, step.Pauses, endedLua, repairLua),
	release: recording(readRelease, releaseLua),
}

// A redisMaster is one server of a quorum.
type redisMaster struct {
	number      string // its place in the quorum
	prefix      string
	req         lock.Request
	steps       steps
	keys        wire.Keys
	record      string
	holderWords string    // the words of the ledger that say who runs
	uptime      int64     // seconds for which the server must be up to vote
	opened      time.Time // when the run began to ask

	where link.Address // as it was when the run began: the link's may change during a step

	ended atomic.Value // string: ids of pauses that have ended, which this master may not know

	turn chan struct{} // holds a token while a step uses the link
	link *link.Link
}

// Open returns the store of several independent servers. It asks nobody: servers that are
// down are found by Acquire. Its error is a *lock.ConfigError, or that descriptors or memory
// were wanting.
func Open(cfg lock.Servers) (lock.Store, error) {
	sources, addresses, err := sourcesOf(cfg)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	return newQuorum(addresses, func(req lock.Request) (masters []master) {
		for i, src := range sources {
			masters = append(masters, newRedisMaster(ctx, src, cfg, i, req))
		}
		return masters
	}, end)
}

func sourcesOf(cfg lock.Servers) (sources []*link.Source, addresses []string, err error) {
	if err := lock.CheckPrefix(cfg.Prefix); err != nil {
		return nil, nil, err
	}
	if cfg.Replicas != 0 {
		return nil, nil, &lock.ConfigError{Subject: "the number of replicas", Problem: "a quorum does not use replicas"}
	}
	for _, raw := range cfg.URLs {
		src, err := link.NewSource(cfg, raw)
		if err != nil {
			return nil, nil, err
		}
		if !src.Address().IsSingle() {
			return nil, nil, link.BadURL("a quorum is made of single servers", "")
		}
		sources, addresses = append(sources, src), append(addresses, src.Address().String())
	}
	return sources, addresses, nil
}

// newRedisMaster is the number-th server of a quorum, whose links end with ctx.
func newRedisMaster(ctx context.Context, src *link.Source, cfg lock.Servers, number int,
	req lock.Request) *redisMaster {
	keys := wire.KeysOf(cfg.Prefix, req.Name, req.Holder.Run)
	return &redisMaster{
		number: fmt.Sprintf("%02d", number), prefix: cfg.Prefix, where: src.Address(), req: req,
		steps: present, keys: keys,
		record: wire.RecordOf(req.Holder).String(), holderWords: wire.HolderText(req.Holder, req.Slot),
		uptime: cfg.UptimeToVote(req.Times.TTL),
		opened: openedAt(req), turn: make(chan struct{}, 1), link: src.Link(ctx, keys.Lock, req.Clock, req.Draw),
	}
}

// openedAt is when the run began to ask.
func openedAt(req lock.Request) time.Time {
	if req.Since.IsZero() {
		return req.Clock.Now()
	}
	return req.Since
}

func (m *redisMaster) Address() string { return m.where.String() }

// runStep runs the script of a term.
func runStep[R any](ctx context.Context, m *redisMaster, b term, script link.Script[R], args ...any) (reply R,
	err error) {
	return inTurn(ctx, m, script, m.keys.All(), m.args(b, args...)...)
}

// inTurn runs a script, when the step before it is over.
func inTurn[R any](
	ctx context.Context, m *redisMaster, script link.Script[R], keys []string, args ...any,
) (reply R, err error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return reply, link.Unavailable(m.where, ctx.Err())
	}
	reply, _, err = script.Eval(ctx, m.link, keys, args...)
	if err != nil {
		return reply, m.unavailable(err)
	}
	return reply, nil
}

// keepOutput implements master.
func (m *redisMaster) keepOutput(ctx context.Context, o lock.Output) error {
	_, err := inTurn(ctx, m, step.KeepOutput, step.OutputKeys(m.keys), step.OutputArgs(m.req.Holder, o)...)
	return err
}

// args are what the steps of a term are told.
func (m *redisMaster) args(b term, more ...any) []any {
	by := step.Asker{
		Run: m.req.Holder.Run, History: m.req.History, MaxAge: m.req.MaxAge, Words: m.holderWords,
		Asked: -lock.Milliseconds(m.req.Clock.Now().Sub(m.opened)),
		Slot:  m.req.Slot.Name, Name: m.req.Listed(), Names: m.keys.Jobs,
	}
	return by.Args(append([]any{b.String(), m.number}, more...)...)
}

func (m *redisMaster) unavailable(err error) error { return m.link.Unavailable(err) }

// ttl is how long a key lives that no answer has confirmed yet.
func (m *redisMaster) ttl() int64 { return lock.Milliseconds(min(m.req.Times.TTL, probation)) }

func (m *redisMaster) grant(ctx context.Context, b term, asked int64) (vote, error) {
	reply, err := runStep(ctx, m, b, m.steps.grant, m.record, m.ttl(), asked, m.uptime, link.Digit(m.req.IgnorePause),
		m.ends())
	if err != nil {
		return vote{}, err
	}
	v := vote{kind: reply.kind, fence: reply.fence, server: reply.server, wait: reply.wait,
		slot: wire.ReadSlot(reply.slot)}
	v.unconfirmed, v.ends = runsOf(reply.unconfirmed), wire.ReadPauseEnds(reply.ends)
	switch reply.kind {
	case refused:
		v.owner, v.held = owner(reply.record), m.heldError(reply)
		v.unconfirmed = slices.DeleteFunc(v.unconfirmed, func(run string) bool { return run == v.held.Holder.Run })
	case notLock:
		v.wrong = m.notLock(reply.wrong)
	case newer:
		v.newer = &lock.NewerError{Name: m.req.Name, Protocol: reply.protocol}
	}
	return v, nil
}

func (m *redisMaster) heldError(reply grantReply) lock.HeldError {
	e := lock.HeldError{Name: m.req.Name, Key: m.keys.Lock, TTL: reply.left}
	if e.Pause = wire.ReadPause(reply.record); e.Pause == nil {
		e.Holder, e.Since = wire.ReadRecord(reply.record, reply.now, m.req.Clock)
	}
	return e
}

func (m *redisMaster) notLock(w wrongKey) *lock.NotLockError {
	e := &lock.NotLockError{Key: m.keys.All()[w.at], What: lock.TypeName(w.kind)}
	if w.full {
		e.What = "a fence that is not a number below 2^53"
	}
	return e
}

func (m *redisMaster) bump(ctx context.Context, b term, fence int64) (done bool, err error) {
	return runStep(ctx, m, b, m.steps.bump, fence)
}

func (m *redisMaster) renew(ctx context.Context, b term) (owner wire.Ownership, stop bool, err error) {
	reply, err := runStep(ctx, m, b, m.steps.renew, lock.Milliseconds(m.req.Times.TTL))
	return reply.owner, reply.stop, err
}

func (m *redisMaster) learn(ended string) { m.ended.Store(ended) }

// ends are what the master is told of pauses.
func (m *redisMaster) ends() string {
	ended, _ := m.ended.Load().(string)
	return ended
}

func (m *redisMaster) repair(ctx context.Context, b term, fence int64, held time.Duration) (wire.Ownership, error) {
	return runStep(ctx, m, b, m.steps.repair, m.record, m.ttl(), fence, lock.Milliseconds(held), m.ends())
}

func (m *redisMaster) release(ctx context.Context, b term, end releaseRequest) (wire.Ownership, error) {
	return runStep(ctx, m, b, m.steps.release, m.releaseArgs(end)...)
}

// releaseArgs are what the release step wants to be told.
func (m *redisMaster) releaseArgs(end releaseRequest) []any {
	o, tombstone := end.Result, int64(0)
	if end.inFlight {
		tombstone = wire.Tombstone.Milliseconds()
	}
	args := []any{
		lock.Milliseconds(end.Keep), tombstone, string(o.End), o.Status, link.Digit(o.Lost), o.Attempts, end.fence,
		lock.Milliseconds(end.held),
		link.Digit(end.leased), strings.Join(end.vanished, " "), strings.Join(end.vanishedTries, " "),
		link.Digit(end.allKnown),
	}
	if o.Stood > 0 {
		args = append(args, lock.Milliseconds(o.Stood))
	}
	return args
}

// giveUp sends a release after every step that got no answer, on the same
// connection, where nothing can come between the two; and leaves a tombstone for
// one that is still in flight.
func (m *redisMaster) giveUp(ctx context.Context, b term, end releaseRequest) error {
	select {
	case m.turn <- struct{}{}:
	default:
		return fmt.Errorf("cannot give up at %s: another step is running", m.Address())
	}
	end.inFlight = true
	m.link.Revoke(m.steps.release.Text(), m.keys.All(), m.args(b, m.releaseArgs(end)...)...)
	<-m.turn
	_, err := runStep(ctx, m, b, m.steps.release, m.releaseArgs(end)...)
	return err
}

func (m *redisMaster) close() { m.link.Close() }

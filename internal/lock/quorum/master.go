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
	"redlockrun/internal/lock/wire"
)

// The steps of a master, each atomic in the server.
var (
	//go:embed term.lua
	termLua string
	//go:embed grant.lua
	grantLua string
	//go:embed raise.lua
	raiseLua string
	//go:embed renew.lua
	renewLua string
	//go:embed heal.lua
	healLua string
	//go:embed release.lua
	releaseLua string
	//go:embed run.lua
	runLua string
	//go:embed doubt.lua
	doubtLua string
	//go:embed rest.lua
	restLua string

	termPart  = link.Part(&termLua)
	runPart   = link.Part(&runLua)
	doubtPart = link.Part(&doubtLua)
	restPart  = link.Part(&restLua)
)

// entering is a step that reads and writes what lies beside the lock, too.
func entering[R any](read func(*link.Reply) R, texts ...*string) link.Script[R] {
	parts := []func() string{termPart, runPart, ledger.Slots, ledger.OwnSlot, ledger.Ledger, ledger.Opening, ledger.Closing, doubtPart}
	for _, text := range texts {
		parts = append(parts, link.Part(text))
	}
	return link.NewScript("HGET", read, parts...)
}

// steps are what a master is sent. A test sets those of another release.
type steps struct {
	grant   link.Script[grantReply]
	raise   link.Script[bool]
	renew   link.Script[renewReply]
	heal    link.Script[standing]
	release link.Script[standing]
}

// present are the steps of this release.
var present = steps{
	grant:   entering(readGrant, &restLua, &grantLua),
	raise:   link.NewScript("GETRANGE", readRaise, termPart, link.Part(&raiseLua)),
	renew:   link.NewScript("GETRANGE", readRenew, termPart, link.Part(&renewLua)),
	heal:    entering(readHeal, &restLua, &healLua),
	release: entering(readRelease, &releaseLua),
}

// A redisMaster is one server of a quorum.
type redisMaster struct {
	number string // its place in the quorum
	req    lock.Request
	steps  steps
	keys   wire.Keys
	run    string    // how every record of this run begins
	rest   string    // and how it ends
	who    string    // the words of the ledger that say who runs
	uptime int64     // seconds for which the server must be up to vote
	opened time.Time // when the run began to ask

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
		return nil, nil, &lock.ConfigError{Subject: "the number of replicas", Problem: "a quorum's masters have none"}
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
func newRedisMaster(ctx context.Context, src *link.Source, cfg lock.Servers, number int, req lock.Request) *redisMaster {
	record := wire.RecordOf(req.Holder).String()
	begin := len(`{"run":"",`) + lock.RunIDLen
	keys := wire.KeysOf(cfg.Prefix, req.Name, req.Holder.Run)
	return &redisMaster{
		number: fmt.Sprintf("%02d", number), where: src.Address(), req: req, steps: present, keys: keys,
		run: record[:begin], rest: record[begin:], who: wire.WhoText(req.Holder, req.Slot),
		uptime: cfg.UptimeToVote(req.Times.TTL),
		opened: req.Clock.Now(), turn: make(chan struct{}, 1), link: src.Link(ctx, keys.Lock, req.Clock, req.Draw),
	}
}

func (m *redisMaster) Address() string { return m.where.String() }

// runStep runs a script, when the step before it is over.
func runStep[R any](ctx context.Context, m *redisMaster, b term, script link.Script[R], args ...any) (reply R, err error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return reply, link.Unavailable(m.where, ctx.Err())
	}
	reply, _, err = script.Eval(ctx, m.link, m.stepKeys(), append([]any{m.run, b.String(), m.number}, args...)...)
	if err != nil {
		return reply, m.unavailable(err)
	}
	return reply, nil
}

// stepKeys are the keys as the steps want them: a run that has no slot and is not entered
// needs the right to five.
func (m *redisMaster) stepKeys() []string {
	all := keysOf(m.keys)
	if m.req.Slot.Name == "" && m.req.History == 0 {
		return all[:5]
	}
	return all
}

func keysOf(k wire.Keys) []string {
	return []string{k.Lock, k.Fence, k.Gone, k.Paused, k.Resumed, k.Slots, k.Job, k.Runs, k.Bad, k.Jobs}
}

// beside is what the steps want to be told that write beside the lock.
func (m *redisMaster) beside() []any {
	asked := lock.Milliseconds(m.req.Clock.Now().Sub(m.opened))
	return []any{m.req.History, m.who, asked, m.req.Slot.Name, m.req.Name}
}

func (m *redisMaster) unavailable(err error) error { return m.link.Unavailable(err) }

// ttl is how long a key lives that no answer has confirmed yet.
func (m *redisMaster) ttl() int64 { return lock.Milliseconds(min(m.req.Times.TTL, probation)) }

func (m *redisMaster) grant(ctx context.Context, b term, asked int64) (vote, error) {
	args := append([]any{m.rest, m.ttl(), asked, m.uptime}, m.beside()...)
	reply, err := runStep(ctx, m, b, m.steps.grant, append(args, link.Digit(m.req.IgnorePause), m.ends())...)
	if err != nil {
		return vote{}, err
	}
	v := vote{verdict: reply.verdict, fence: reply.fence, server: reply.server, wait: reply.wait, slot: wire.ReadSlot(reply.slot)}
	v.doubts, v.ends = runsOf(reply.doubts), wire.ReadPauseEnds(reply.ends)
	switch reply.verdict {
	case refused:
		v.owner, v.held = owner(reply.record), m.heldError(reply)
		v.doubts = slices.DeleteFunc(v.doubts, func(run string) bool { return run == v.held.Holder.Run })
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
	e := &lock.NotLockError{Key: m.stepKeys()[w.at], What: lock.TypeName(w.kind)}
	if w.full {
		e.What = "a fence that is no number below 2^53"
	}
	return e
}

func (m *redisMaster) raise(ctx context.Context, b term, fence int64) (done bool, err error) {
	return runStep(ctx, m, b, m.steps.raise, fence)
}

func (m *redisMaster) renew(ctx context.Context, b term) (whose standing, stop bool, err error) {
	reply, err := runStep(ctx, m, b, m.steps.renew, lock.Milliseconds(m.req.Times.TTL))
	return reply.whose, reply.stop, err
}

func (m *redisMaster) learn(ended string) { m.ended.Store(ended) }

// ends are what the master is told of pauses.
func (m *redisMaster) ends() string {
	ended, _ := m.ended.Load().(string)
	return ended
}

func (m *redisMaster) heal(ctx context.Context, b term, fence int64, held time.Duration) (standing, error) {
	args := append(append([]any{m.rest, m.ttl(), fence, lock.Milliseconds(held)}, m.beside()...), m.ends())
	return runStep(ctx, m, b, m.steps.heal, args...)
}

func (m *redisMaster) release(ctx context.Context, b term, end parting) (standing, error) {
	return runStep(ctx, m, b, m.steps.release, m.releaseArgs(end)...)
}

// releaseArgs are what the release step wants to be told.
func (m *redisMaster) releaseArgs(end parting) []any {
	o, gone := end.Result, int64(0)
	if end.astray {
		gone = wire.Tombstone.Milliseconds()
	}
	args := append([]any{lock.Milliseconds(end.Keep), gone, lock.Milliseconds(end.held), end.fence}, m.beside()...)
	return append(args, string(o.End), o.Status, o.Attempts, link.Digit(o.Lost), link.Digit(end.leased),
		strings.Join(end.vanished, " "), strings.Join(end.tries, " "), link.Digit(end.heard))
}

// giveUp sends a release after every step that got no answer, on the same
// connection, where nothing can come between the two; and leaves a tombstone for
// one that has gone astray.
func (m *redisMaster) giveUp(ctx context.Context, b term, end parting) error {
	select {
	case m.turn <- struct{}{}:
	default:
		return fmt.Errorf("give up at %s: another step is under way", m.Address())
	}
	end.astray = true
	args := append([]any{m.run, b.String(), m.number}, m.releaseArgs(end)...)
	m.link.Revoke(m.steps.release.Text(), m.stepKeys(), args...)
	<-m.turn
	_, err := runStep(ctx, m, b, m.steps.release, m.releaseArgs(end)...)
	return err
}

func (m *redisMaster) close() { m.link.Close() }

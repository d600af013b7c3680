package quorum

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"time"
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

	termPart = link.Part(&termLua)

	grantStep   = link.Join(termPart, link.Part(&grantLua))
	raiseStep   = link.Join(termPart, link.Part(&raiseLua))
	renewStep   = link.Join(termPart, link.Part(&renewLua))
	healStep    = link.Join(termPart, link.Part(&healLua))
	releaseStep = link.Join(termPart, link.Part(&releaseLua))
)

// settled is the least time that a master must be up to vote, since it may have
// forgotten to whom it had given the lock when it was restarted.
const settled = time.Minute

func settledOf(c lock.Servers) time.Duration {
	if c.Settled > 0 {
		return c.Settled
	}
	return settled
}

// A redisMaster is one server of a quorum.
type redisMaster struct {
	number string // its place in the quorum
	req    lock.Request
	keys   lock.Keys
	run    string // how every record of this run begins
	rest   string // and how it ends
	uptime int64  // seconds for which the server must be up to vote

	where link.Address // as it was when the run began: the link's may change during a step

	turn chan struct{} // holds a token while a step uses the link
	link *link.Link
}

// OpenQuorum returns the store of several independent servers, and is else like Open.
func Open(cfg lock.Servers) (lock.Store, error) {
	if err := lock.CheckPrefix(cfg.Prefix); err != nil {
		return nil, err
	}
	if cfg.Replicas != 0 {
		return nil, &lock.ConfigError{Subject: "the number of replicas", Problem: "a quorum's masters have none"}
	}
	var sources []*link.Source
	var addresses []string
	for _, raw := range cfg.URLs {
		src, err := link.NewSource(cfg, raw)
		if err != nil {
			return nil, err
		}
		if !src.Address().IsSingle() {
			return nil, link.BadURL("a quorum is made of single servers", "")
		}
		sources, addresses = append(sources, src), append(addresses, src.Address().String())
	}
	ctx, end := context.WithCancel(context.Background())
	return newQuorum(addresses, func(req lock.Request) (masters []master) {
		for i, src := range sources {
			masters = append(masters, newRedisMaster(ctx, src, cfg, i, req))
		}
		return masters
	}, end)
}

// newRedisMaster is the number-th server of a quorum, whose links end with ctx.
func newRedisMaster(ctx context.Context, src *link.Source, cfg lock.Servers, number int, req lock.Request) *redisMaster {
	record := lock.RecordOf(req.Holder).String()
	begin := len(`{"run":"",`) + lock.RunIDLen
	keys := lock.KeysOf(cfg.Prefix, req.Name, req.Holder.Run)
	m := &redisMaster{
		number: fmt.Sprintf("%02d", number), where: src.Address(), req: req, keys: keys,
		run: record[:begin], rest: record[begin:], turn: make(chan struct{}, 1), link: src.Link(ctx, keys.Lock, req.Draw),
	}
	if !cfg.Durable {
		m.uptime = int64((max(req.Times.TTL, settledOf(cfg))+time.Second-1)/time.Second) + 1 // as it counts whole seconds
	}
	return m
}

func (m *redisMaster) Address() string { return m.where.String() }

// eval makes one step, when the step before it is over.
func (m *redisMaster) eval(ctx context.Context, b term, script string, args ...any) ([]any, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, link.Unavailable(m.where, ctx.Err())
	}
	reply, _, err := m.link.Eval(ctx, script, masterKeys(m.keys), append([]any{m.run, b.String(), m.number}, args...)...)
	if err != nil {
		return nil, m.unavailable(err)
	}
	return reply, nil
}

// masterKeys are the keys as the steps of a quorum want them.
func masterKeys(k lock.Keys) []string { return []string{k.Lock, k.Fence, k.Gone} }

func (m *redisMaster) unavailable(err error) error { return m.link.Unavailable(err) }

// ttl is how long a key lives that no answer has confirmed yet.
func (m *redisMaster) ttl() int64 { return lock.Milliseconds(min(m.req.Times.TTL, probation)) }

func (m *redisMaster) grant(ctx context.Context, b term) (vote, error) {
	reply, err := m.eval(ctx, b, grantStep(), m.rest, m.ttl(), time.Now().UnixMilli(), m.uptime)
	if err != nil {
		return vote{}, err
	}
	return m.vote(reply), nil
}

func (m *redisMaster) vote(reply []any) vote {
	switch link.Number(reply, 0) {
	case 1:
		return vote{verdict: granted, fence: link.Number(reply, 1), server: link.Text(reply, 2)}
	case 0:
		return m.refusal(link.Number(reply, 1), link.Text(reply, 2), link.Number(reply, 3))
	case 2:
		return vote{verdict: double}
	case 5:
		return vote{verdict: abstained, wait: time.Duration(link.Number(reply, 1)) * time.Second}
	case -1:
		key := masterKeys(m.keys)[link.Number(reply, 1)-1]
		return vote{verdict: notLock, wrong: &lock.NotLockError{Key: key, What: lock.TypeName(link.Text(reply, 2))}}
	case -2:
		return vote{verdict: notLock, wrong: &lock.NotLockError{Key: m.keys.Fence, What: "a fence that is no number below 2^53"}}
	}
	return vote{verdict: revoked}
}

// refusal names the holder and the round in which it took the lock: a majority
// that says the same belongs to it.
func (m *redisMaster) refusal(left int64, value string, now int64) vote {
	v := vote{verdict: refused, owner: value, held: lock.HeldError{Name: m.req.Name, Key: m.keys.Lock, TTL: -1}}
	v.held.Holder, v.held.Since = lock.ReadRecord(value, now)
	if left >= 0 {
		v.held.TTL = time.Duration(left) * time.Millisecond
	}
	var term struct{ Run, Vote string }
	if json.Unmarshal([]byte(value), &term) == nil && len(term.Vote) >= 8 {
		v.owner = term.Run + term.Vote[:8]
	}
	return v
}

func (m *redisMaster) raise(ctx context.Context, b term, fence int64) (bool, error) {
	reply, err := m.eval(ctx, b, raiseStep(), fence)
	return link.Number(reply, 0) == 1, err
}

func (m *redisMaster) renew(ctx context.Context, b term) (standing, error) {
	reply, err := m.eval(ctx, b, renewStep(), lock.Milliseconds(m.req.Times.TTL))
	return standingOf(reply, err)
}

func (m *redisMaster) heal(ctx context.Context, b term, fence int64, held time.Duration) (standing, error) {
	reply, err := m.eval(ctx, b, healStep(), m.rest, m.ttl(), fence, lock.Milliseconds(held))
	return standingOf(reply, err)
}

func (m *redisMaster) release(ctx context.Context, b term, keep time.Duration) (standing, error) {
	reply, err := m.eval(ctx, b, releaseStep(), lock.Milliseconds(keep), 0)
	return standingOf(reply, err)
}

func standingOf(reply []any, err error) (standing, error) {
	switch {
	case err != nil:
		return unheard, err
	case link.Number(reply, 0) == 1, link.Number(reply, 0) == 2:
		return ours, nil
	case link.Number(reply, 0) == 0:
		return anothers, nil
	}
	return nobodys, nil
}

// giveUp sends a release after every step that got no answer, on the same
// connection, where nothing can come between the two; and leaves a tombstone for
// one that has gone astray.
func (m *redisMaster) giveUp(ctx context.Context, b term) error {
	select {
	case m.turn <- struct{}{}:
	default:
		return fmt.Errorf("give up at %s: another step is under way", m.Address())
	}
	m.link.Revoke(releaseStep(), masterKeys(m.keys), m.run, b.String(), m.number, 0, lock.Tombstone)
	<-m.turn
	_, err := m.eval(ctx, b, releaseStep(), 0, lock.Tombstone)
	return err
}

func (m *redisMaster) close() { m.link.Close() }

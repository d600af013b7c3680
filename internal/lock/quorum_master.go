package lock

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"
)

// The steps of a master, each atomic in the server.
var (
	//go:embed quorum_term.lua
	termLua string
	//go:embed quorum_grant.lua
	grantLua string
	//go:embed quorum_raise.lua
	raiseLua string
	//go:embed quorum_renew.lua
	quorumRenewLua string
	//go:embed quorum_heal.lua
	healLua string
	//go:embed quorum_release.lua
	quorumReleaseLua string

	termPart = strip(&termLua)

	grantStep         = join(termPart, strip(&grantLua))
	raiseStep         = join(termPart, strip(&raiseLua))
	quorumRenewStep   = join(termPart, strip(&quorumRenewLua))
	healStep          = join(termPart, strip(&healLua))
	quorumReleaseStep = join(termPart, strip(&quorumReleaseLua))
)

// settled is the least time that a master must be up to vote, since it may have
// forgotten to whom it had given the lock when it was restarted.
const settled = time.Minute

func settledOf(c OpenConfig) time.Duration {
	if c.settled > 0 {
		return c.settled
	}
	return settled
}

// A redisMaster is one server of a quorum.
type redisMaster struct {
	number string // its place in the quorum
	req    Request
	keys   keys
	run    string // how every record of this run begins
	rest   string // and how it ends
	uptime int64  // seconds for which the server must be up to vote

	where address // as it was when the run began: the link's may change during a step

	turn chan struct{} // holds a token while a step uses the link
	link *link
}

// OpenQuorum returns the store of several independent servers, and is else like Open.
func OpenQuorum(cfg OpenConfig) (Store, error) {
	if err := checkPrefix(cfg.Prefix); err != nil {
		return nil, err
	}
	if cfg.Replicas != 0 {
		return nil, &ConfigError{Subject: "the number of replicas", Problem: "a quorum's masters have none"}
	}
	var sources []*source
	var addresses []string
	for _, raw := range cfg.URLs {
		src, err := newSource(cfg, raw)
		if err != nil {
			return nil, err
		}
		if !src.address().isSingle() {
			return nil, badURL("a quorum is made of single servers", "")
		}
		sources, addresses = append(sources, src), append(addresses, src.address().String())
	}
	ctx, end := context.WithCancel(context.Background())
	return newQuorum(addresses, func(req Request) (masters []master) {
		for i, src := range sources {
			masters = append(masters, newRedisMaster(ctx, src, cfg, i, req))
		}
		return masters
	}, end)
}

// newRedisMaster is the number-th server of a quorum, whose links end with ctx.
func newRedisMaster(ctx context.Context, src *source, cfg OpenConfig, number int, req Request) *redisMaster {
	record := recordOf(req.Holder).String()
	begin := len(`{"run":"",`) + runIDLen
	keys := keysOf(cfg.Prefix, req.Name, req.Holder.Run)
	m := &redisMaster{
		number: fmt.Sprintf("%02d", number), where: src.address(), req: req, keys: keys,
		run: record[:begin], rest: record[begin:], turn: make(chan struct{}, 1), link: src.newLink(ctx, keys.lock),
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
		return nil, unavailable(m.where, ctx.Err())
	}
	reply, _, err := m.link.eval(ctx, script, masterKeys(m.keys), append([]any{m.run, b.String(), m.number}, args...)...)
	if err != nil {
		return nil, m.unavailable(err)
	}
	return reply, nil
}

// masterKeys are the keys as the steps of a quorum want them.
func masterKeys(k keys) []string { return []string{k.lock, k.fence, k.gone} }

func (m *redisMaster) unavailable(err error) error { return m.link.unavailable(err) }

// ttl is how long a key lives that no answer has confirmed yet.
func (m *redisMaster) ttl() int64 { return milliseconds(min(m.req.Times.TTL, probation)) }

func (m *redisMaster) grant(ctx context.Context, b term) (vote, error) {
	reply, err := m.eval(ctx, b, grantStep(), m.rest, m.ttl(), time.Now().UnixMilli(), m.uptime)
	if err != nil {
		return vote{}, err
	}
	return m.vote(reply), nil
}

func (m *redisMaster) vote(reply []any) vote {
	switch number(reply, 0) {
	case 1:
		return vote{verdict: granted, fence: number(reply, 1), server: text(reply, 2)}
	case 0:
		return m.refusal(number(reply, 1), text(reply, 2), number(reply, 3))
	case 2:
		return vote{verdict: double}
	case 5:
		return vote{verdict: abstained, wait: time.Duration(number(reply, 1)) * time.Second}
	case -1:
		key := masterKeys(m.keys)[number(reply, 1)-1]
		return vote{verdict: notLock, wrong: &NotLockError{Key: key, What: typeName(text(reply, 2))}}
	case -2:
		return vote{verdict: notLock, wrong: &NotLockError{Key: m.keys.fence, What: "a fence that is no number below 2^53"}}
	}
	return vote{verdict: revoked}
}

// refusal names the holder and the round in which it took the lock: a majority
// that says the same belongs to it.
func (m *redisMaster) refusal(left int64, value string, now int64) vote {
	v := vote{verdict: refused, owner: value, held: HeldError{Name: m.req.Name, Key: m.keys.lock, TTL: -1}}
	v.held.Holder, v.held.Since = readRecord(value, now)
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
	return number(reply, 0) == 1, err
}

func (m *redisMaster) renew(ctx context.Context, b term) (standing, error) {
	reply, err := m.eval(ctx, b, quorumRenewStep(), milliseconds(m.req.Times.TTL))
	return standingOf(reply, err)
}

func (m *redisMaster) heal(ctx context.Context, b term, fence int64, held time.Duration) (standing, error) {
	reply, err := m.eval(ctx, b, healStep(), m.rest, m.ttl(), fence, milliseconds(held))
	return standingOf(reply, err)
}

func (m *redisMaster) release(ctx context.Context, b term, keep time.Duration) (standing, error) {
	reply, err := m.eval(ctx, b, quorumReleaseStep(), milliseconds(keep), 0)
	return standingOf(reply, err)
}

func standingOf(reply []any, err error) (standing, error) {
	switch {
	case err != nil:
		return unheard, err
	case number(reply, 0) == 1, number(reply, 0) == 2:
		return ours, nil
	case number(reply, 0) == 0:
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
	m.link.revoke(quorumReleaseStep(), masterKeys(m.keys), m.run, b.String(), m.number, 0, tombstone)
	<-m.turn
	_, err := m.eval(ctx, b, quorumReleaseStep(), 0, tombstone)
	return err
}

func (m *redisMaster) close() { m.link.close() }

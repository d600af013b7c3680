// Package link asks one question at a time of the Redis that has a key: one server, the
// master that Sentinel names, or the node of a Cluster. It decides how long, how often and
// where; go-redis, which nothing else knows, is told to decide none of that.
package link

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"

	"github.com/redis/go-redis/v9"
)

// A client is the part of go-redis that a link needs.
type client interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd
	Pipeline() redis.Pipeliner
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	Close() error
}

// A Link asks a store one question at a time, over connections of its own that
// it replaces by fresh ones when they have failed. Not for several goroutines.
type Link struct {
	ctx       context.Context // ends it for good
	connect   func(context.Context, *Source, *conns) (client, error)
	source    *Source
	clock     *boottime.Clock
	draw      lock.Draw
	inFlight  inFlight
	client    client // nil: connect first
	conns     *conns // the client's
	again     bool   // a client has been wanted before
	askingErr error  // why the last ASKING failed
}

// Link is a link with a source of its own, for the acquisition of the lock that is
// kept at key. It ends with ctx.
func (s *Source) Link(ctx context.Context, key string, clock *boottime.Clock, draw lock.Draw) *Link {
	src := *s
	l := &Link{ctx: ctx, clock: clock, draw: draw, source: &src, connect: connectSingle}
	switch src.addr.kind {
	case sentinel:
		l.connect = connectSentinel
	case cluster:
		l.connect = connectCluster(key)
	}
	return l
}

func connectSingle(_ context.Context, src *Source, cs *conns) (client, error) {
	return redis.NewClient(options(src.addr, cs)), nil
}

// ask puts a question, and to the node of a Cluster that it is sent on to again. sent
// reports whether it can have reached a server.
func (l *Link) ask(ctx context.Context, question func(client) error) (sent bool, err error) {
	for redirects := 0; redirects < mostRedirects; {
		var once bool
		once, err = l.askOnce(ctx, question)
		sent = sent || once
		if err == nil || l.source.addr.kind != cluster {
			return sent, err
		}
		r, moved := redirectOf(err, l.source.addr.at)
		switch {
		case moved:
			l.follow(r)
			redirects++
		case !underMigration(err) || !timeLeft(ctx, 2*migrationPause) ||
			!lock.Sleep(ctx, l.draw.Jitter(migrationPause)):
			return sent, err
		}
	}
	if Answered(l.askingErr) {
		return sent, l.askingErr
	}
	return sent, fmt.Errorf("the Cluster redirected the request %d times", mostRedirects)
}

func (l *Link) askOnce(ctx context.Context, question func(client) error) (sent bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := l.open(ctx); err != nil {
		return false, err
	}
	stop := context.AfterFunc(ctx, l.conns.end)
	err = l.source.addr.outdated(understood(question(l.client), ReadRefusal))
	sent = l.conns.used.Load() && !errors.As(err, new(*lock.PasswordError))
	if !stop() || err != nil && !reusable(err) {
		l.Drop()
	}
	return sent, err
}

// follow leads to where a Cluster has sent us.
func (l *Link) follow(r redirect) {
	l.Drop()
	l.conns = newConns(l.ctx, l.source, &l.inFlight)
	c := connectTo(l.source, l.conns, r.to)
	if l.client = c; r.asking {
		l.client = asking{c, &l.askingErr}
	}
}

func (l *Link) open(ctx context.Context) (err error) {
	if l.client != nil {
		return nil
	}
	if l.again {
		l.source.reload(ctx)
	}
	l.again = true
	l.client, l.conns, err = l.connection(ctx, &l.inFlight)
	return err
}

// connection is a client and the connections that it uses, which end with it.
func (l *Link) connection(ctx context.Context, held *inFlight) (client, *conns, error) {
	cs := newConns(l.ctx, l.source, held)
	c, err := l.connect(ctx, l.source, cs)
	if err != nil {
		cs.end()
		return nil, nil, err
	}
	return c, cs, nil
}

// Drop ends the connections that are in use: the next question goes over a fresh one.
func (l *Link) Drop() {
	if l.client != nil {
		l.conns.end()
		l.client.Close()
		l.client = nil
	}
}

// Close ends the connections.
func (l *Link) Close() {
	l.Drop()
	l.DropInFlight()
}

// DropInFlight ends the connections on which an answer is still awaited: whatever is under way
// there may arrive.
func (l *Link) DropInFlight() { l.inFlight.close(nil) }

// Revoke ends all connections, and sends a last script after whatever is under way on
// those where an answer is still awaited: nothing can come between the two.
func (l *Link) Revoke(script string, keys []string, args ...any) {
	l.Drop()
	words := append([]string{"EVAL", script, strconv.Itoa(len(keys))}, keys...)
	for _, arg := range args {
		words = append(words, fmt.Sprint(arg))
	}
	l.inFlight.close(request(words...))
}

// Subscribe listens to a channel, over a connection of its own.
func (l *Link) Subscribe(ctx context.Context, channel string) (*Subscription, error) {
	c, cs, err := l.connection(ctx, &inFlight{off: true})
	if err != nil {
		return nil, err
	}
	s, err := subscribe(ctx, c, cs, channel)
	return s, l.source.addr.outdated(err)
}

// Unavailable is err as users see it, with the place that was asked last.
func (l *Link) Unavailable(err error) *lock.UnavailableError { return Unavailable(l.source.addr, err) }

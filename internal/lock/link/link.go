package link

import (
	"context"
	"fmt"
	"redlockrun/internal/lock"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// A client is what a link needs of go-redis.
type client interface {
	Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd
	Pipeline() redis.Pipeliner
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
	Close() error
}

// A Link asks a store one question at a time, over connections of its own that
// it replaces by fresh ones when they have failed. Not for several goroutines.
type Link struct {
	ctx     context.Context // ends it for good
	connect func(context.Context, *Source, *wires) (client, error)
	source  *Source
	draw    lock.Draw
	late    late
	client  client // nil: connect first
	wires   *wires // the client's
	again   bool   // a client has been wanted before
	unasked error  // why the last ASKING was in vain
}

// Link is a link with a source of its own, for the acquisition of the lock that is
// kept at key. It ends with ctx.
func (s *Source) Link(ctx context.Context, key string, draw lock.Draw) *Link {
	src := *s
	l := &Link{ctx: ctx, draw: draw, source: &src, connect: connectSingle}
	switch src.addr.kind {
	case sentinel:
		l.connect = connectSentinel
	case cluster:
		l.connect = connectCluster(key)
	}
	return l
}

func connectSingle(_ context.Context, src *Source, w *wires) (client, error) {
	return redis.NewClient(options(src.addr, w)), nil
}

// Eval asks once, within ctx; what a Cluster sends on is still asked once. The
// end of ctx, by cancel too, ends it at once. sent reports whether the request
// can have reached a server.
func (l *Link) Eval(ctx context.Context, script string, keys []string, args ...any) (reply []any, sent bool, err error) {
	return l.ask(ctx, func(c client) ([]any, error) {
		reply, err := c.Eval(ctx, script, keys, args...).Slice()
		return reply, understood(err, script)
	})
}

// ask puts a question as eval does.
func (l *Link) ask(ctx context.Context, question func(client) ([]any, error)) (reply []any, sent bool, err error) {
	for redirects := 0; redirects < mostRedirects; {
		var once bool
		reply, once, err = l.askOnce(ctx, question)
		sent = sent || once
		if err == nil || l.source.addr.kind != cluster {
			return reply, sent, err
		}
		r, moved := redirectOf(err, l.source.addr.at)
		switch {
		case moved:
			l.follow(r)
			redirects++
		case !underMigration(err) || !timeLeft(ctx, 2*migrationPause) || !lock.Pause(ctx, l.draw.Jitter(migrationPause)):
			return reply, sent, err
		}
	}
	if Answered(l.unasked) {
		return nil, sent, l.unasked
	}
	return nil, sent, fmt.Errorf("sent from node to node %d times", mostRedirects)
}

func (l *Link) askOnce(ctx context.Context, question func(client) ([]any, error)) (reply []any, sent bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if err := l.open(ctx); err != nil {
		return nil, false, err
	}
	stop := context.AfterFunc(ctx, l.wires.end)
	reply, err = question(l.client)
	err = understood(err, "")
	sent = l.wires.used.Load()
	if !stop() || err != nil && !reusable(err) {
		l.Drop()
	}
	if err == nil && len(reply) == 0 {
		err = fmt.Errorf("read reply: it is empty")
	}
	return reply, sent, err
}

// follow leads to where a Cluster has sent us.
func (l *Link) follow(r redirect) {
	l.Drop()
	l.wires = newWires(l.ctx, l.source, &l.late)
	c := connectTo(l.source, l.wires, r.to)
	if l.client = c; r.asking {
		l.client = asking{c, &l.unasked}
	}
}

func (l *Link) open(ctx context.Context) (err error) {
	if l.client != nil {
		return nil
	}
	if l.again {
		l.source.load() // a file that cannot be read now leaves what it said before
	}
	l.again = true
	l.client, l.wires, err = l.connection(ctx, &l.late)
	return err
}

// connection is a client and the wires that it uses, which end with it.
func (l *Link) connection(ctx context.Context, held *late) (client, *wires, error) {
	ws := newWires(l.ctx, l.source, held)
	c, err := l.connect(ctx, l.source, ws)
	if err != nil {
		ws.end()
		return nil, nil, err
	}
	return c, ws, nil
}

func (l *Link) Drop() {
	if l.client != nil {
		l.wires.end()
		l.client.Close()
		l.client = nil
	}
}

// Close ends the connections.
func (l *Link) Close() {
	l.Drop()
	l.Settle()
}

// Settle ends the connections on which an answer is still awaited: whatever is under way
// there may arrive.
func (l *Link) Settle() { l.late.close(nil) }

// Revoke ends all connections, and sends a last script after whatever is under way on
// those where an answer is still awaited: nothing can come between the two.
func (l *Link) Revoke(script string, keys []string, args ...any) {
	l.Drop()
	words := append([]string{"EVAL", script, strconv.Itoa(len(keys))}, keys...)
	for _, arg := range args {
		words = append(words, fmt.Sprint(arg))
	}
	l.late.close(request(words...))
}

// EvalAndWait asks as eval does, and in the same round trip waits for up to patience until
// as many replicas as are enough have what has been written: n have it.
func (l *Link) EvalAndWait(ctx context.Context, enough int, patience time.Duration, script string, keys []string, args ...any) (reply []any, n int64, err error) {
	reply, _, err = l.ask(ctx, func(c client) ([]any, error) {
		p := c.Pipeline()
		if _, ok := c.(asking); ok {
			p.Do(ctx, "ASKING")
		}
		done := p.Eval(ctx, script, keys, args...)
		waited := p.Do(ctx, "WAIT", enough, lock.Milliseconds(patience))
		p.Exec(ctx) // each command has its own error
		reply, err := done.Slice()
		if err != nil {
			return nil, understood(err, script)
		}
		n, err = waited.Int64()
		return reply, err
	})
	return reply, n, err
}

// Subscribe listens to a channel, over a connection of its own.
func (l *Link) Subscribe(ctx context.Context, channel string) (*Subscription, error) {
	c, ws, err := l.connection(ctx, &late{off: true})
	if err != nil {
		return nil, err
	}
	return subscribe(ctx, c, ws, channel)
}

// Unavailable is err as users see it, with the place that was asked last.
func (l *Link) Unavailable(err error) *lock.UnavailableError { return Unavailable(l.source.addr, err) }

// Number is the i-th part of a reply; 0 if there is none or it is no number.
func Number(reply []any, i int) int64 {
	if i < len(reply) {
		n, _ := reply[i].(int64)
		return n
	}
	return 0
}

// Text is the i-th part of a reply; "" if there is none or it is no text.
func Text(reply []any, i int) string {
	if i < len(reply) {
		s, _ := reply[i].(string)
		return s
	}
	return ""
}

package link

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// question puts questions to one server together, on a connection of its own, and hangs
// up. A reply is a string, an int64, a []any, nil or a *rejection. Without an error there
// are as many replies as questions.
//
// The end of ctx, or of cs, ends it at once.
func (cs *conns) question(ctx context.Context, src *Source, at Address, questions ...[]any) ([]any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(cs.ctx, cancel)()
	own := newConns(ctx, src, &inFlight{off: true})
	defer own.end()
	c := redis.NewClient(options(at, own))
	defer c.Close()
	p := c.Pipeline()
	answers := make([]*redis.Cmd, len(questions))
	for i, words := range questions {
		answers[i] = p.Do(ctx, words...)
	}
	p.Exec(ctx) // each command has its own error
	replies := make([]any, len(questions))
	for i, answer := range answers {
		reply, err := answer.Result()
		if replies[i], err = replyOf(reply, err); err != nil {
			return nil, causeOf(ctx, err)
		}
		if refused, ok := replies[i].(*rejection); ok {
			at.outdated(refused)
		}
	}
	return replies, nil
}

// replyOf makes a reply of a nil and of a refusal, which are errors to go-redis.
func replyOf(reply any, err error) (any, error) {
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	err = understood(err, ReadRefusal)
	if r, ok := refusalIn(err); ok {
		return r, nil
	}
	return reply, err
}

// causeOf returns why ctx has ended, if err comes from that.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

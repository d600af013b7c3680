package link

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// A Subscription is the ear of one waiter: the messages on its own channel,
// until the connection ends. It has a connection and a goroutine of its own.
type Subscription struct {
	client   client
	conns    *conns
	pubsub   *redis.PubSub
	Messages chan string // closed when the connection has ended
}

// ended is a context that keeps go-redis from connecting a broken subscription
// again by itself: only a look afterwards shows what was missed.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// subscribe returns when the server has confirmed the subscription.
func subscribe(ctx context.Context, c client, cs *conns, channel string) (*Subscription, error) {
	s := &Subscription{c, cs, c.Subscribe(ctx), make(chan string, 16)}
	stop := context.AfterFunc(ctx, cs.end)
	err := s.pubsub.Subscribe(ctx, channel)
	if err == nil {
		_, err = s.pubsub.Receive(ctx)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.disconnect()
		return nil, fmt.Errorf("subscribe: %w", understood(err, ReadRefusal))
	}
	go s.listen()
	return s, nil
}

func (s *Subscription) listen() {
	defer close(s.Messages)
	for {
		received, err := s.pubsub.Receive(ended)
		if err != nil {
			return
		}
		if m, ok := received.(*redis.Message); ok {
			select {
			case s.Messages <- m.Payload:
			case <-s.conns.ctx.Done():
				return
			}
		}
	}
}

func (s *Subscription) disconnect() {
	s.conns.end()
	s.pubsub.Close()
	s.client.Close()
}

// Close ends the connection and the goroutine.
func (s *Subscription) Close() {
	s.disconnect()
	for range s.Messages {
	}
}

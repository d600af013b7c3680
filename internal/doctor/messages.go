package doctor

import (
	"context"
	"errors"
	"strings"
	"time"

	"redlockrun/internal/lock/wire"
)

// A Listener is a server that notifies waiters.
type Listener interface {
	// Listen hears what is published to a channel, until unsubscribe is called; the messages end
	// with the connection, too.
	Listen(ctx context.Context, channel string) (messages <-chan string, unsubscribe func(), err error)
}

// sayLua publishes, and returns how many listened before and by the count of PUBLISH.
const sayLua = `
local n = redis.call('pubsub', 'numsub', ARGV[1])
return {redis.call('publish', ARGV[1], 'p'), tonumber(n[2])}`

// pollingCost is what it costs if messages do not arrive.
const pollingCost = "waiters ask twice a second instead of being notified"

// checkMessages checks publish and subscribe: whether the server can notify waiters.
func checkMessages(ctx context.Context, v *visit) []Finding {
	if v.idle {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, v.Limit)
	defer cancel()
	keys := wire.KeysOf(v.Servers.Prefix, trialName(), "")
	channel := keys.Channel("doctor")
	messages, unsubscribe, err := v.Server.(Listener).Listen(ctx, channel)
	if err != nil {
		return []Finding{v.unheard(err)}
	}
	defer unsubscribe()
	reply, err := v.Ask(ctx, "EVAL", sayLua, "0", channel)
	counts, _ := reply.([]any)
	switch {
	case barred(err): // said by the rights
		return nil
	case err != nil:
		return []Finding{v.is("messages", Warn, "%s: %s", v.Say(err), pollingCost).
			to("check that the server is alive")}
	case len(counts) != 2 || counts[0] == int64(0) || counts[1] == int64(0):
		return []Finding{v.is("messages", Warn, "PUBLISH does not count its receivers: %s", pollingCost).
			to("if a proxy is in between, connect to the server directly")}
	}
	return []Finding{v.hear(ctx, messages)}
}

// hear checks whether a published message arrives.
func (v *visit) hear(ctx context.Context, messages <-chan string) Finding {
	ctx, cancel := context.WithTimeout(ctx, v.Ear)
	defer cancel()
	const remedy = "check proxies and firewalls between this host and the server"
	select {
	case _, connected := <-messages:
		if connected {
			return v.is("messages", Ok, "messages arrive, and the server counts their receivers")
		}
		return v.is("messages", Warn, "the server closes subscriptions: %s", pollingCost).to(remedy)
	case <-ctx.Done():
		return v.is("messages", Warn, "messages do not arrive within %s: %s", v.Ear, pollingCost).to(remedy)
	}
}

// unheard reports why waiters cannot listen.
func (v *visit) unheard(err error) Finding {
	text := strings.ToLower(refusedBy(err).Text)
	switch {
	case refusedBy(err).Code == "NOPERM" && strings.Contains(text, "channel"):
		right := v.ours("&redlockrun:*")
		return v.is("messages", Warn, "user %s lacks %s: %s", v.user(), right, pollingCost).to("%s", v.grant(right))
	case refusedBy(err).Code == "NOPERM":
		return v.is("messages", Warn, "user %s lacks +subscribe: %s", v.user(), pollingCost).
			to("%s", v.grant("+subscribe"))
	case barred(err):
		return v.is("messages", Warn, "the server does not know SUBSCRIBE: %s", pollingCost).
			to("if a proxy is in between, connect to the server directly")
	case errors.Is(err, context.DeadlineExceeded):
		return v.is("messages", Warn, "SUBSCRIBE is not answered within %s: %s", v.Limit.Round(time.Millisecond),
			pollingCost).
			to("check proxies and firewalls between this host and the server")
	}
	return v.is("messages", Warn, "%s: %s", v.Say(err), pollingCost).
		to("check proxies and firewalls between this host and the server")
}

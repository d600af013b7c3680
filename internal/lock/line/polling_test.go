package line_test

import (
	"errors"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// uncalling are servers and proxies on which a waiter is not called as it should be.
var uncalling = map[string]func(*redistest.Proxy){
	"no SUBSCRIBE": func(p *redistest.Proxy) { p.Forbid("SUBSCRIBE", "ERR unknown command 'subscribe'") },
	"SUBSCRIBE forbidden": func(p *redistest.Proxy) {
		p.Forbid("SUBSCRIBE", "NOPERM this user has no permissions to run the 'subscribe' command")
	},
	"SUBSCRIBE unsupported": func(p *redistest.Proxy) { p.Forbid("SUBSCRIBE", "ERR unsupported command 'subscribe'") },
	"no PUBLISH":            func(p *redistest.Proxy) { p.Play("PUBLISH", "return command('NOSUCHCOMMAND')") },
	"PUBLISH unsupported": func(p *redistest.Proxy) {
		p.Forbid("PUBLISH",
			"ERR 'publish' is not supported in cluster mode")
	},
	"PUBLISH forbidden": func(p *redistest.Proxy) {
		p.Forbid("PUBLISH", "ERR The user executing the script can't run this command or subcommand")
	},
	"neither": func(p *redistest.Proxy) {
		p.Forbid("SUBSCRIBE", "ERR unknown command")
		p.Forbid("PUBLISH", "ERR unknown command")
	},
	"PUBLISH counts nobody":  func(p *redistest.Proxy) { p.Play("PUBLISH", "command(...) return 0") },
	"PUBLISH reaches nobody": func(p *redistest.Proxy) { p.Play("PUBLISH", "return 1") },
	"messages are lost":      func(p *redistest.Proxy) { p.Mute(true) },
	"TIME is 0":              func(p *redistest.Proxy) { p.Play("TIME", "return {'0', '0'}") },
	"TIME is 0 and no SUBSCRIBE": func(p *redistest.Proxy) {
		p.Play("TIME", "return {'0', '0'}")
		p.Forbid("SUBSCRIBE", "ERR unknown command")
	},
}

func TestOrderHoldsWhereWaitersPoll(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for name, play := range uncalling {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, p, s := proxied(t)
			play(p)
			held := locktest.Acquire(t, s, locktest.RequestFor("job"))
			var queue []<-chan result
			for i := range 3 {
				req := waits("job", lock.Forever)
				req.OnOutage = func(err error) { t.Errorf("waiter %d: outage %v", i, err) }
				req.OnBusy = func(e *lock.HeldError) {
					if e.Rejoined {
						t.Errorf("waiter %d: lost its place", i)
					}
				}
				done, _ := park(t, srv, s, req, int64(i+1))
				queue = append(queue, done)
			}
			looks, parked := p.Count(":gone:"), boottime.Now()
			locktest.Until(t, "three seconds", func() bool { return boottime.Now().Sub(parked) > 3*time.Second })
			if n := p.Count(":gone:") - looks; n > 3*9 {
				t.Errorf("%d looks of three in three seconds", n)
			}
			fence := held.Fence()
			for i, done := range queue {
				release(t, held)
				if _, err := s.Acquire(t.Context(), locktest.RequestFor("job")); !errors.As(err, new(*lock.HeldError)) {
					t.Errorf("a newcomer slipped past waiter %d: %v", i, err)
				}
				began := boottime.Now()
				held = lease(t, done)
				// it looks twice a second, on a busy machine too
				if took := boottime.Now().Sub(began); took >= line.LookEvery {
					t.Errorf("waiter %d came after %s", i, took)
				}
				if held.Fence() <= fence {
					t.Errorf("fence %d after %d", held.Fence(), fence)
				}
				fence = held.Fence()
			}
			release(t, held)
			onlyFence(t, srv)
			if n := p.Count("subscribe redlockrun:"); n > 3*3 {
				t.Errorf("%d subscriptions of three waiters", n)
			}
		})
	}
}

package simulation

import (
	"time"

	"redlockrun/internal/lock"
)

// A wish is what a tick asks for that most do not. The zero value is nothing.
type wish struct {
	most      int           // --max-waiters; 0: no limit
	retries   int           // --lock-retries; 0: it waits in line
	pause     time.Duration // --lock-retry-delay
	attempts  int           // --attempts; 0: one
	failing   int           // so many of them fail before one ends as the tick says
	rest      time.Duration // --attempt-delay
	continues bool          // --on-lost=continue
}

// starts is how often the command may be started.
func (x wish) starts() int { return max(1, x.attempts) }

// wishes has the hosts of some worlds ask for what most do not. What it draws changes nothing of the rest of a plan.
func (p *plan) wishes() {
	if !streamOf(p.seed, "wishes").chance(0.6) {
		return
	}
	for n, c := range p.hosts {
		if c.plain {
			continue
		}
		s := streamOf(p.seed, "wishes of %d", n)
		most, continues, again, tries := pick(s, 0, 1, 2), s.chance(0.3), s.chance(0.4), s.chance(0.25)
		for i := range c.ticks {
			t := &c.ticks[i]
			t.wish = wish{continues: continues}
			if p.machines == 1 { // a quorum has no line
				t.most = most
			}
			if again {
				t.attempts, t.failing, t.rest = 1+s.IntN(3), s.IntN(3), s.spread(time.Millisecond, 10*time.Second)
			}
			if tries {
				t.retries, t.pause, t.most = 1+s.IntN(4), s.spread(time.Millisecond, 2*time.Second), 0
				t.wait = pick(s, 0, 0, t.wait)
			}
		}
	}
}

// waits is how a tick waits for a busy lock.
func (t tick) waits() lock.Wait {
	return lock.Wait{Limit: t.wait, Retries: t.retries, Delay: t.pause, Max: t.most}
}

// again is how much longer a tick may take because it starts its command more than once.
func (t tick) again() (d time.Duration) {
	for n := 1; n < t.starts(); n++ {
		d += t.runs + t.backoff().At(n-1)
	}
	return d + time.Duration(t.retries)*t.pause
}

func (t tick) backoff() lock.Backoff { return lock.Backoff{First: t.rest, Most: 10 * time.Minute} }

// howOf is how the n-th start ends by itself.
func (t tick) howOf(n int) lock.EndKind {
	if n <= t.failing {
		return lock.EndFailed
	}
	return t.how
}

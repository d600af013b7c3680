package simulation

import (
	"errors"
	"sync"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

// A loss is what a command knows of its lock that runs on without it.
type loss struct {
	mu      sync.Mutex
	lost    bool
	resting bool // between two starts
}

func (l *loss) set(lost bool) (resting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = lost
	return l.resting
}

// rests begins or ends a pause, and reports whether the lock is lost.
func (l *loss) rests(resting bool) (lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = resting
	return l.lost
}

// Continues: in a pause the loss ends the run, as in cmd/redlockrun.
func (o observer) Continues(lost *watchdog.LostError) {
	o.c.tell(news{kind: runsOn, lost: lost})
	if o.c.loss.set(true) {
		o.c.hears(lost)
	}
}

func (o observer) Regained() {
	o.c.loss.set(false)
	o.c.tell(news{kind: regained})
}

// untilDone starts the command until it succeeds, or may not be started any more.
func (c *command) untilDone() (end ending) {
	for n := 1; ; n++ {
		end = c.run(c.tick.howOf(n))
		end.attempts = n
		if n >= c.tick.starts() || end.how != lock.EndFailed || c.loss.rests(true) {
			return end
		}
		if stopped := c.rest(c.tick.backoff().At(n - 1)); stopped != nil {
			stopped.attempts = n
			return *stopped
		}
		c.loss.rests(false)
		c.tell(news{kind: again})
	}
}

// rest is the pause before the next start; it returns how the run ends if it does so meanwhile.
func (c *command) rest(d time.Duration) *ending {
	pause := time.NewTimer(d)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			return nil
		case c.due = <-c.guard:
		case err := <-c.halted:
			if errors.As(err, new(*watchdog.LostError)) {
				return &ending{how: lock.EndLost, status: 76, lost: err}
			}
			return &ending{how: lock.EndStopped, status: 143}
		case <-c.crashed:
			return &ending{}
		}
	}
}

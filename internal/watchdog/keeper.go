package watchdog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"redlockrun/internal/lock"
)

// A Keeper keeps one lease while a command runs, and lets it lapse while the command is suspended.
// Its methods are called from one goroutine: Start first, then Suspend and Resume by turns, Stop
// last.
type Keeper struct {
	cfg    Config
	lease  Lease
	cancel context.CancelFunc // ends keep
	over   chan struct{}      // closed when keep has returned
	stats  Stats              // written by keep, until over is closed
	asked  bool               // likewise: the observer got StopAsked

	// While the command stands still; as stats.
	standing bool
	since    time.Time
	reminded time.Time // when the last report was made
}

// New returns a Keeper of a lease that has been acquired.
func New(lease Lease, cfg Config) *Keeper {
	if cfg.Observer == nil {
		cfg.Observer = unobserved{}
	}
	return &Keeper{cfg: cfg, lease: lease, stats: Stats{Closest: math.MaxInt64}}
}

// Start begins to renew the lease.
//
// Each try has its own limit, and none is sent at or after T_term. The answer of an earlier try
// counts until Cancel is called: at T_term, or as soon as the lease is definitely lost. There are
// never two tries at a time.
func (k *Keeper) Start() {
	k.cfg.tellGuard(k.lease.Until())
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	k.cancel, k.over = cancel, over
	go func() {
		defer close(over)
		defer k.recover()
		k.keep(ctx)
	}()
}

// Suspend ends the renewals and waits for the one in flight. Afterwards none is in flight, except
// one that ignores its context, for which Suspend waits a second.
func (k *Keeper) Suspend() {
	k.cancel()
	<-k.over
}

// Resume goes on with a lease that was suspended. It may have lapsed meanwhile, so Resume first
// renews it; it asks a store that does not answer for Timeout.
//
// A *LostError says that the lease is lost, and that nothing was started. With Continue there is
// none. A *StandsError says that the command must stand still; then the lease is asked for.
func (k *Keeper) Resume(ctx context.Context) error {
	if k.cfg.Stander != nil {
		return k.resumeStanding(ctx)
	}
	if k.stats.Lost == nil {
		if err := k.cfg.ask(ctx, k.lease, k.cfg.Clock.Now().Add(k.cfg.Timeout)); err != nil {
			k.expire(err)
		} else {
			k.renewed()
		}
	}
	if k.stats.Lost != nil && !k.cfg.Continue {
		return k.stats.Lost
	}
	k.Start()
	return nil
}

// Stop ends the renewals as Suspend does, and reports how the lease was kept. From then on the
// lease may be released.
func (k *Keeper) Stop() Stats {
	k.Suspend()
	k.stopStanding(k.cfg.Clock.Now())
	return k.stats
}

// recover turns a panic of the watchdog into an orderly end of the command.
func (k *Keeper) recover() {
	if r := recover(); r != nil {
		k.cfg.Cancel(fmt.Errorf("panic: %v", r))
	}
}

// keep watches the lease until ctx ends or it is lost. With Continue, or a Stander, it then asks
// for it, until it can be watched again.
func (k *Keeper) keep(ctx context.Context) {
	for k.stats.Lost == nil || k.regain(ctx) {
		lost := k.watch(ctx)
		if lost == nil {
			return
		}
		if k.lose(lost); !k.cfg.Continue && !k.standing {
			return
		}
	}
}

// renewed reports the effects of a renewal to the observer.
func (k *Keeper) renewed() {
	if !k.asked && k.lease.StopAsked() {
		k.asked = true
		k.cfg.Observer.StopAsked()
	}
}

// lose stops the command, makes it stand still, or reports that it runs on.
func (k *Keeper) lose(lost *LostError) {
	k.stats.Lost = lost
	switch {
	case k.cfg.Continue:
		k.cfg.Observer.Continues(lost)
	case k.mayStand(lost):
		k.stand(lost)
	default:
		k.cfg.Cancel(lost)
	}
}

// expire is lose for a lease that was lost while the command was suspended. Resume ends the
// command then.
func (k *Keeper) expire(err error) {
	now := k.cfg.Clock.Now()
	// Mostly T_kill is long past: the command must not run beside its successor for an instant.
	k.stats.Lost = &LostError{err, earliest(now.Add(killTaken), now.Add(k.cfg.Grace), k.cfg.Kill(k.lease.Until()))}
	k.stats.Closest = min(k.stats.Closest, k.cfg.Term(k.lease.Until()).Sub(now))
	if k.cfg.Continue {
		k.cfg.Observer.Continues(k.stats.Lost)
	}
}

// regain renews a lease without an answer in time, until it is ours again or lost for good. If it
// is ours again, no other run held it meanwhile.
func (k *Keeper) regain(ctx context.Context) bool {
	if k.cfg.Stander != nil {
		return k.standUntilHeld(ctx)
	}
	for !errors.Is(k.stats.Lost, lock.ErrLost) {
		if !lock.Sleep(ctx, k.cfg.Renew) {
			return false
		}
		switch err := k.cfg.renew(ctx, k.lease); {
		case err == nil:
			k.stats.Lost = nil
			k.cfg.Observer.Regained()
			k.renewed()
			return true
		case errors.Is(err, lock.ErrLost):
			k.lose(&LostError{Err: err})
		}
	}
	return false
}

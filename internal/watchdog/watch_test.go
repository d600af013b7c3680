package watchdog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/watchdog"
)

func TestASlowReplyShortensTheLease(t *testing.T) {
	for tenths := range 13 {
		delay := minute.TTL * time.Duration(tenths) / 10
		synctest.Test(t, func(t *testing.T) {
			// A store client that obeys no limit, so that the reply is late indeed; after it, silence.
			start := time.Now()
			hung := make(chan struct{})
			r := &renewer{t: t}
			r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
				if len(r.sent) > 1 {
					<-hung
				}
				time.Sleep(delay)
				return minute.End(sent), nil
			}
			lost := mustLose(time.Hour, r, config(minute))
			term := start.Add(life(minute))
			if answered := r.tries()[0].Add(delay); answered.Before(term.Add(resolveAtTerm)) {
				term = r.tries()[0].Add(life(minute))
			}
			if late := time.Since(term); late < 0 || late > resolveAtTerm {
				t.Errorf("a reply after %v: stopped %v after T_term with %v", delay, late, lost)
			}
			close(hung)
			synctest.Wait()
			time.Sleep(2 * minute.TTL)
		})
	}
}

func TestAfterAFreezeTheClockIsReadBeforeTheStoreIsAsked(t *testing.T) {
	for _, slept := range []time.Duration{life(minute), minute.TTL, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(minute)
			until := minute.End(cfg.Clock.Now())
			time.AfterFunc(5*time.Second, func() { cfg.Clock.Sleep(slept) })
			r := replies(t, minute, 0, nil)
			lost := mustLose(time.Hour, r, cfg)
			if len(r.sent) != 0 || !errors.Is(lost, watchdog.ErrLate) {
				t.Errorf("frozen for %v: %d tries were sent, lost for %v", slept, len(r.sent), lost)
			}
			if want := minute.Kill(until); !lost.Kill.Equal(want) {
				t.Errorf("SIGKILL due %v after %v", lost.Kill.Sub(want), want)
			}
		})
	}
}

func TestASleepOfTheMachineIsNoticedWithinASecond(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 5 * time.Second, time.Minute, 24 * time.Hour} {
		times := lock.TimesOf(ttl)
		synctest.Test(t, func(t *testing.T) {
			cfg := config(times)
			start := time.Now()
			at := times.Renew / 3
			time.AfterFunc(at, func() { cfg.Clock.Sleep(7 * 24 * time.Hour) })
			mustLose(time.Hour, replies(t, times, 0, nil), cfg)
			if noticed := time.Since(start) - at; noticed > max(50*time.Millisecond, times.Margin) {
				t.Errorf("ttl %v: noticed after %v", ttl, noticed)
			}
		})
	}
}

func TestASleepShorterThanTheLeaseIsFollowedByARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(minute)
		time.AfterFunc(5*time.Second, func() { cfg.Clock.Sleep(30 * time.Second) })
		r := replies(t, minute, 0, nil)
		mustKeep(10*time.Second, r, cfg)
		if len(r.sent) != 1 {
			t.Errorf("%d renewals, want 1 on waking up", len(r.sent))
		}
	})
}

func TestRenewalsComeEarlyAndNeverTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replies(t, minute, minute.Try/2, nil)
		last := time.Now()
		mustKeep(time.Hour, r, config(minute))
		gaps := map[time.Duration]bool{}
		for _, sent := range r.sent {
			gap := sent.Sub(last)
			if gap > minute.Renew || gap < minute.Renew*9/10 {
				t.Errorf("%v between two renewals", gap)
			}
			gaps[gap], last = true, sent
		}
		if len(gaps) < len(r.sent)/2 {
			t.Errorf("%d renewals at only %d distances: a fleet would renew in step", len(r.sent), len(gaps))
		}
	})
}

func TestEachTryHasItsOwnLimitAndNoneReachesBeyondTTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := time.Now().Add(life(minute))
		var last time.Time
		r := &renewer{t: t, renew: func(ctx context.Context, sent time.Time) (time.Time, error) {
			deadline, _ := ctx.Deadline()
			limit := deadline.Sub(sent)
			if limit > minute.Try || deadline.After(term) || deadline.Before(term) && limit < minute.Try {
				t.Errorf("a limit of %v, %v before T_term", limit, term.Sub(deadline))
			}
			if gap := sent.Sub(last); !last.IsZero() && (gap < minute.RetryDelay/2 || gap > minute.RetryDelay) {
				t.Errorf("a pause of %v", gap)
			}
			<-ctx.Done()
			last = time.Now()
			return time.Time{}, ctx.Err()
		}}
		lost := mustLose(time.Hour, r, config(minute))
		if !errors.Is(lost, context.DeadlineExceeded) || !time.Now().Equal(term) {
			t.Errorf("stopped %v after T_term: %v", time.Since(term), lost)
		}
	})
}

func TestADefiniteLossActsAtOnce(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("renew lock: %w", err) }
	for _, ttl := range []time.Duration{time.Second, time.Minute, time.Hour} {
		times := lock.TimesOf(ttl)
		for _, c := range []struct {
			err  error
			kill time.Duration
		}{
			{wrapped(lock.ErrLost), times.Grace},
			{wrapped(lock.ErrTaken), min(times.Grace, time.Second)},
		} {
			for _, nth := range []int{1, 3, 7} {
				synctest.Test(t, func(t *testing.T) {
					r := &renewer{t: t}
					r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
						if len(r.sent) == nth {
							return time.Time{}, c.err
						}
						return times.End(sent), nil
					}
					lost := mustLose(30*24*time.Hour, r, config(times))
					if !errors.Is(lost, c.err) || len(r.sent) != nth || time.Until(lost.Kill) != c.kill {
						t.Errorf("ttl %v, renewal %d of %d: %v, SIGKILL after %v, want %v",
							ttl, nth, len(r.sent), lost, time.Until(lost.Kill), c.kill)
					}
					if now := time.Now(); !now.Equal(r.sent[nth-1]) {
						t.Errorf("acted after %v", now.Sub(r.sent[nth-1]))
					}
				})
			}
		}
	}
}

func TestALossNeverPutsTheKillBeyondTheLease(t *testing.T) {
	// The answer comes at the last moment, from a client that obeys no limit.
	for _, final := range []error{lock.ErrLost, lock.ErrTaken} {
		synctest.Test(t, func(t *testing.T) {
			until := minute.End(time.Now())
			r := &renewer{t: t, renew: func(_ context.Context, sent time.Time) (time.Time, error) {
				time.Sleep(time.Until(minute.Term(until).Add(resolveAtTerm / 2)))
				return time.Time{}, final
			}}
			cfg := config(minute)
			lost := mustLose(time.Hour, r, cfg)
			if !errors.Is(lost, final) || lost.Kill.After(until) {
				t.Errorf("%v: SIGKILL due %v after the end of the lease", lost, lost.Kill.Sub(until))
			}
		})
	}
}

// The machine sleeps while the answer is on its way: of the lease less is left than the grace.
func TestALossAfterASleepNeverPutsTheKillBeyondTheLease(t *testing.T) {
	for _, final := range []error{lock.ErrLost, lock.ErrTaken} {
		synctest.Test(t, func(t *testing.T) {
			cfg, until := config(minute), minute.End(time.Now())
			r := &renewer{t: t, renew: func(context.Context, time.Time) (time.Time, error) {
				cfg.Clock.Sleep(cfg.Clock.Until(until) - minute.Margin/2)
				return time.Time{}, final
			}}
			if lost := mustLose(time.Hour, r, cfg); !errors.Is(lost, final) || lost.Kill.After(until) {
				t.Errorf("%v: SIGKILL due %v after the end of the lease", lost, lost.Kill.Sub(until))
			}
		})
	}
}

func TestALateRenewalCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := &renewer{t: t}
		r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
			if len(r.sent) == 1 {
				time.Sleep(5 * minute.Try) // obeys no limit
			}
			return minute.End(sent), nil
		}
		if lost := watchFor(10*minute.TTL, r, config(minute)).Lost; lost != nil {
			t.Errorf("lost after %v: %v", time.Since(start), lost)
		}
	})
}

func TestARenewalCountsUntilTheCommandIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := time.Now().Add(life(minute))
		r := &renewer{t: t}
		r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
			if len(r.sent) == 1 {
				time.Sleep(time.Until(term.Add(resolveAtTerm / 2)))
			}
			return minute.End(sent), nil
		}
		if stats := mustKeep(10*minute.TTL, r, config(minute)); stats.Closest > 0 {
			t.Errorf("closest is %v, want none", stats.Closest)
		}
	})
}

func TestTheEndOfTheCommandComesFirst(t *testing.T) {
	for _, shift := range []time.Duration{-time.Millisecond, 0, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			stats := watchFor(life(minute)+shift, replies(t, minute, 0, errRefused), config(minute))
			if lost := stats.Lost != nil; shift != 0 && lost != (shift > 0) {
				t.Errorf("the command ended %v after T_term: %v", shift, stats.Lost)
			}
		})
	}
}

func TestNoTryOutlivesTheEndOfTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &renewer{t: t, renew: func(ctx context.Context, _ time.Time) (time.Time, error) {
			<-ctx.Done()
			time.Sleep(resolveAtEnd / 2) // slow to obey
			return time.Time{}, ctx.Err()
		}}
		stats := mustKeep(minute.Renew+time.Millisecond, r, config(minute))
		if len(r.sent) != 1 || r.busy || stats.Failed != 0 {
			t.Errorf("%d tries, one under way: %v, %d failed", len(r.sent), r.busy, stats.Failed)
		}
	})
}

func TestATryThatHangsDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := time.Now().Add(life(minute))
		release := make(chan struct{})
		r := &renewer{t: t, renew: func(context.Context, time.Time) (time.Time, error) {
			<-release
			return time.Time{}, errRefused
		}}
		lost := mustLose(time.Hour, r, config(minute))
		if late := time.Since(term); late < 0 || late > resolveAtTerm || len(r.tries()) != 1 {
			t.Errorf("%d tries, stopped %v after T_term", len(r.tries()), late)
		}
		if !errors.Is(lost, context.DeadlineExceeded) {
			t.Error(lost)
		}
		close(release)
	})
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := &renewer{t: t, renew: func(context.Context, time.Time) (time.Time, error) {
			<-release
			return time.Time{}, errRefused
		}}
		start := time.Now()
		mustKeep(minute.Renew+time.Millisecond, r, config(minute))
		if waited := time.Since(start) - minute.Renew - time.Millisecond; waited != resolveAtEnd {
			t.Errorf("ended after %v", waited)
		}
		close(release)
	})
}

// The guard's deadline is moved by each renewal.
func TestEachNewDeadlineIsToldToTheGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Time
		cfg, start := config(minute), time.Now()
		cfg.Guard = func(at time.Time) { told = append(told, at) }
		r := replies(t, minute, time.Millisecond, nil)
		mustKeep(10*minute.TTL, r, cfg)
		for i, sent := range append([]time.Time{start}, r.sent...) {
			if want := minute.GuardKill(minute.End(sent)); i >= len(told) || !told[i].Equal(want) {
				t.Fatalf("renewal %d was sent at %v: the guard was told %v", i, sent, told)
			}
		}
		if len(told) != len(r.sent)+1 {
			t.Errorf("told %d times after %d renewals", len(told), len(r.sent))
		}
	})
}

func TestStatsSayHowTheLeaseWasKept(t *testing.T) {
	top := func(time.Duration) time.Duration { return 0 } // nothing taken off
	for _, c := range []struct {
		failures int
		end      time.Duration
		want     watchdog.Stats
	}{
		{0, time.Second, watchdog.Stats{Closest: life(minute) - time.Second}},
		{0, minute.Renew + time.Second, watchdog.Stats{Renewed: 1, Closest: life(minute) - minute.Renew}},
		{3, minute.Renew + 10*time.Second,
			watchdog.Stats{Renewed: 1, Failed: 3, Closest: life(minute) - minute.Renew - 3*minute.RetryDelay}},
		{1000, time.Hour, watchdog.Stats{Failed: 29}},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(minute)
			cfg.Draw = top
			stats := watchFor(c.end, script(t, minute, slices.Repeat([]error{errRefused}, c.failures)...), cfg)
			if (stats.Lost != nil) != (c.end == time.Hour) {
				t.Errorf("%d failures, %v: lost for %v", c.failures, c.end, stats.Lost)
			}
			if stats.Lost = nil; stats != c.want {
				t.Errorf("%d failures, %v: %+v, want %+v", c.failures, c.end, stats, c.want)
			}
		})
	}
}

func TestTheObserverIsToldOfEachFailureAndOfTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := config(minute), new(diary)
		cfg.Draw = func(time.Duration) time.Duration { return 0 }
		cfg.Observer = seen
		mustKeep(minute.TTL, script(t, minute, errRefused, errRefused, nil, nil, errRefused), cfg)
		seen.says(t,
			"try 1 failed (dial: connection refused), 28.398s left",
			"try 2 failed (dial: connection refused), 27.398s left",
			"renewed after 2",
		)
	})
}

func TestTheObserverIsNotToldOfAFailureThatEndsTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := config(minute), new(diary)
		cfg.Observer = seen
		mustLose(time.Hour, script(t, minute, lock.ErrTaken), cfg)
		seen.says(t)
	})
}

func TestTheMachinesClockIsTheDefault(t *testing.T) {
	r := replies(t, minute, 0, nil)
	stats := mustKeep(0, r, watchdog.Config{Times: minute})
	if stats.Closest <= 0 || stats.Closest > life(minute) || len(r.tries()) != 0 {
		t.Errorf("%d tries, %+v", len(r.tries()), stats)
	}
}

// A panic ends the command in order, wherever it comes from.
func TestAPanicHaltsTheCommand(t *testing.T) {
	for name, arrange := range map[string]func(r *renewer, cfg *watchdog.Config){
		"lease": func(r *renewer, _ *watchdog.Config) {
			r.renew = func(context.Context, time.Time) (time.Time, error) { panic("oh") }
		},
		"guard": func(_ *renewer, cfg *watchdog.Config) {
			told := 0
			cfg.Guard = func(time.Time) {
				if told++; told > 1 {
					panic("oh")
				}
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, cfg := replies(t, minute, 0, nil), config(minute)
			arrange(r, &cfg)
			k := keep(r, cfg)
			err := <-k.cancelled
			if k.Stop(); err.Error() != "panic: oh" || errors.As(err, new(*watchdog.LostError)) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Two tries have room before T_term, though the next renewal of a new lease would come later.
func TestALeaseThatIsOldWhenTheCommandStartsIsRenewedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const age = 30 * time.Second
		r, start := replies(t, minute, 0, nil), time.Now()
		stats := keepAged(r, alarmed(minute), age).stopAfter(t, time.Minute)
		if stats.Lost != nil || start.Add(life(minute)-age).Sub(r.sent[0]) < 2*minute.Try {
			t.Errorf("%+v: first renewed after %v", stats, r.sent[0].Sub(start))
		}
	})
}

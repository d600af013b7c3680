package watchdog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"

	"github.com/rs/zerolog"
)

var minute = lock.TimesOf(time.Minute)

func TestV1OnlyWhatTheReplyLeftIsLeft(t *testing.T) {
	for tenths := range 13 {
		delay := minute.TTL * time.Duration(tenths) / 10
		synctest.Test(t, func(t *testing.T) {
			// A store client that heeds no limit, so that the reply is late indeed; after it, silence.
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
			err := watchFor(time.Hour, r, minute, config(minute))
			term := start.Add(life(minute))
			if answered := r.tries()[0].Add(delay); answered.Before(term) {
				term = r.tries()[0].Add(life(minute))
			}
			if late := time.Since(term); late < 0 || late > settleAtTerm {
				t.Errorf("a reply after %v: stopped %v after T_term with %v", delay, late, err)
			}
			close(hung)
			synctest.Wait()
			time.Sleep(2 * minute.TTL)
		})
	}
}

func TestV2AfterAFreezeTheClockIsAskedBeforeTheStore(t *testing.T) {
	for _, slept := range []time.Duration{life(minute), minute.TTL, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock, cfg := &jumping{}, config(minute)
			cfg.Now = clock.now
			until := minute.End(clock.now())
			time.AfterFunc(5*time.Second, func() { clock.sleep(slept) })
			r := replies(t, minute, 0, nil)
			lost := lostError(t, Run(t.Context(), r, until, cfg, quiet))
			if len(r.sent) != 0 || !errors.Is(lost, ErrLate) {
				t.Errorf("frozen for %v: %d tries were sent, lost for %v", slept, len(r.sent), lost)
			}
			if want := minute.Kill(until); !lost.Kill.Equal(want) {
				t.Errorf("SIGKILL due %v after %v", lost.Kill.Sub(want), want)
			}
		})
	}
}

func TestV3ASleepOfTheMachineIsNoticedWithinASecond(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 5 * time.Second, time.Minute, 24 * time.Hour} {
		times := lock.TimesOf(ttl)
		synctest.Test(t, func(t *testing.T) {
			clock, cfg := &jumping{}, config(times)
			cfg.Now = clock.now
			start := time.Now()
			at := times.Renew / 3
			time.AfterFunc(at, func() { clock.sleep(7 * 24 * time.Hour) })
			err := Run(t.Context(), replies(t, times, 0, nil), clock.now().Add(ttl-times.Drift), cfg, quiet)
			lostError(t, err)
			if noticed := time.Since(start) - at; noticed > max(50*time.Millisecond, times.Margin) {
				t.Errorf("ttl %v: noticed after %v", ttl, noticed)
			}
		})
	}
}

func TestV3ASleepThatTheLeaseOutlivesIsFollowedByARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, cfg := &jumping{}, config(minute)
		cfg.Now = clock.now
		time.AfterFunc(5*time.Second, func() { clock.sleep(30 * time.Second) })
		r := replies(t, minute, 0, nil)
		if err := watchFor(10*time.Second, r, minute, cfg); err != nil {
			t.Fatal(err)
		}
		if len(r.sent) != 1 {
			t.Errorf("%d renewals, want 1 on waking up", len(r.sent))
		}
	})
}

func TestV5RenewalsComeBeforeTheirTimeAndNeverTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replies(t, minute, minute.Try/2, nil)
		last := time.Now()
		if err := watchFor(time.Hour, r, minute, config(minute)); err != nil {
			t.Fatal(err)
		}
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

func TestV5EachTryHasItsOwnLimitAndNoneReachesBeyondTTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := time.Now().Add(life(minute))
		var last time.Time
		r := &renewer{t: t, renew: func(ctx context.Context, sent time.Time) (time.Time, error) {
			deadline, _ := ctx.Deadline()
			if deadline.Sub(sent) > minute.Try || deadline.After(term) || deadline.Before(term) && deadline.Sub(sent) < minute.Try {
				t.Errorf("a limit of %v, %v before T_term", deadline.Sub(sent), term.Sub(deadline))
			}
			if gap := sent.Sub(last); !last.IsZero() && (gap < minute.Pause/2 || gap > minute.Pause) {
				t.Errorf("a pause of %v", gap)
			}
			<-ctx.Done()
			last = time.Now()
			return time.Time{}, ctx.Err()
		}}
		lost := lostError(t, watchFor(time.Hour, r, minute, config(minute)))
		if !errors.Is(lost, context.DeadlineExceeded) || !time.Now().Equal(term) {
			t.Errorf("stopped %v after T_term: %v", time.Since(term), lost)
		}
	})
}

func TestV6V7ADefiniteLossActsAtOnce(t *testing.T) {
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
					lost := lostError(t, watchFor(30*24*time.Hour, r, times, config(times)))
					if !errors.Is(lost, c.err) || len(r.sent) != nth || time.Until(lost.Kill) != c.kill {
						t.Errorf("ttl %v, renewal %d of %d: %v, SIGKILL after %v, want %v", ttl, nth, len(r.sent), lost, time.Until(lost.Kill), c.kill)
					}
					if now := time.Now(); !now.Equal(r.sent[nth-1]) {
						t.Errorf("acted after %v", now.Sub(r.sent[nth-1]))
					}
				})
			}
		}
	}
}

func TestV7ALossNeverPutsTheKillBeyondTheLease(t *testing.T) {
	// The answer comes at the last moment, from a client that heeds no limit.
	for _, final := range []error{lock.ErrLost, lock.ErrTaken} {
		synctest.Test(t, func(t *testing.T) {
			until := minute.End(time.Now())
			r := &renewer{t: t, renew: func(_ context.Context, sent time.Time) (time.Time, error) {
				time.Sleep(time.Until(minute.Term(until).Add(settleAtTerm / 2)))
				return time.Time{}, final
			}}
			cfg := config(minute)
			lost := lostError(t, Run(t.Context(), r, until, cfg, quiet))
			if !errors.Is(lost, final) || lost.Kill.After(until) {
				t.Errorf("%v: SIGKILL due %v after the end of the lease", lost, lost.Kill.Sub(until))
			}
		})
	}
}

func TestV11ALateSuccessCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := &renewer{t: t}
		r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
			if len(r.sent) == 1 {
				time.Sleep(5 * minute.Try) // heeds no limit
			}
			return minute.End(sent), nil
		}
		if err := watchFor(10*minute.TTL, r, minute, config(minute)); err != nil {
			t.Errorf("lost after %v: %v", time.Since(start), err)
		}
	})
}

func TestV11ASuccessCountsUntilTheCommandIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := time.Now().Add(life(minute))
		r := &renewer{t: t}
		r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
			if len(r.sent) == 1 {
				time.Sleep(time.Until(term.Add(settleAtTerm / 2)))
			}
			return minute.End(sent), nil
		}
		cfg := config(minute)
		cfg.Stats = new(Stats)
		if err := watchFor(10*minute.TTL, r, minute, cfg); err != nil {
			t.Error(err)
		}
		if cfg.Stats.Closest > 0 {
			t.Errorf("closest is %v, want none", cfg.Stats.Closest)
		}
	})
}

func TestV13TheCommandsEndComesFirst(t *testing.T) {
	for _, shift := range []time.Duration{-time.Millisecond, 0, time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			err := watchFor(life(minute)+shift, replies(t, minute, 0, errRefused), minute, config(minute))
			if lost := err != nil; shift != 0 && lost != (shift > 0) {
				t.Errorf("the command ended %v after T_term: %v", shift, err)
			}
		})
	}
}

func TestV13NoTryOutlivesTheEndOfTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(minute)
		cfg.Stats = new(Stats)
		r := &renewer{t: t, renew: func(ctx context.Context, _ time.Time) (time.Time, error) {
			<-ctx.Done()
			time.Sleep(settleAtEnd / 2) // slow to heed
			return time.Time{}, ctx.Err()
		}}
		if err := watchFor(minute.Renew+time.Millisecond, r, minute, cfg); err != nil {
			t.Error(err)
		}
		if len(r.sent) != 1 || r.busy || cfg.Stats.Failed != 0 {
			t.Errorf("%d tries, one under way: %v, %d failed", len(r.sent), r.busy, cfg.Stats.Failed)
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
		lost := lostError(t, watchFor(time.Hour, r, minute, config(minute)))
		if late := time.Since(term); late < 0 || late > settleAtTerm || len(r.tries()) != 1 {
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
		err := watchFor(minute.Renew+time.Millisecond, r, minute, config(minute))
		if waited := time.Since(start) - minute.Renew - time.Millisecond; err != nil || waited != settleAtEnd {
			t.Errorf("ended after %v with %v", waited, err)
		}
		close(release)
	})
}

func TestEachNewEndOfTheLeaseIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Time
		cfg := config(minute)
		cfg.Renewed = func(until time.Time) { told = append(told, until) }
		r := replies(t, minute, time.Millisecond, nil)
		if err := watchFor(10*minute.TTL, r, minute, cfg); err != nil {
			t.Fatal(err)
		}
		for i, until := range told {
			if !until.Equal(minute.End(r.sent[i])) {
				t.Errorf("renewal %d: told %v", i, until)
			}
		}
		if len(told) != len(r.sent) {
			t.Errorf("%d of %d told", len(told), len(r.sent))
		}
	})
}

func TestStatsSayHowTheLeaseWasKept(t *testing.T) {
	failing := func(n int) *renewer {
		r := &renewer{t: t}
		r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
			if len(r.sent) <= n {
				return time.Time{}, errRefused
			}
			return minute.End(sent), nil
		}
		return r
	}
	top := func(time.Duration) time.Duration { return 0 } // nothing taken off
	for _, c := range []struct {
		failures int
		end      time.Duration
		want     Stats
	}{
		{0, time.Second, Stats{0, 0, life(minute) - time.Second}},
		{0, minute.Renew + time.Second, Stats{1, 0, life(minute) - minute.Renew}},
		{3, minute.Renew + 10*time.Second, Stats{1, 3, life(minute) - minute.Renew - 3*minute.Pause}},
		{1000, time.Hour, Stats{0, 29, 0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(minute)
			cfg.draw, cfg.Stats = top, new(Stats)
			_ = watchFor(c.end, failing(c.failures), minute, cfg)
			if *cfg.Stats != c.want {
				t.Errorf("%d failures, %v: %+v, want %+v", c.failures, c.end, *cfg.Stats, c.want)
			}
		})
	}
}

func TestAnOutageIsWarnedOfOnceAndASingleFailureNotAtAll(t *testing.T) {
	for failures, warnings := range []int{0, 0, 1, 1, 1} {
		synctest.Test(t, func(t *testing.T) {
			r := &renewer{t: t}
			r.renew = func(_ context.Context, sent time.Time) (time.Time, error) {
				if len(r.sent) <= failures {
					return time.Time{}, errRefused
				}
				return minute.End(sent), nil
			}
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), minute.TTL)
			defer cancel()
			log := zerolog.New(&out).Level(zerolog.WarnLevel)
			if err := Run(ctx, r, minute.End(time.Now()), config(minute), log); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "\n"); got != warnings {
				t.Errorf("%d failures: %d warnings: %s", failures, got, out.String())
			}
		})
	}
}

func TestTheRealClockIsTheDefault(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, replies(t, minute, 0, nil), time.Now(), Config{}, quiet); err != nil {
		t.Error(err)
	}
}

package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/lock"
)

func TestTheRetryPolicyOfFiveSeconds(t *testing.T) {
	most := func(below time.Duration) time.Duration { return below - 1 }
	none := func(time.Duration) time.Duration { return 0 }
	p := lock.RetryPolicy{Total: 5 * time.Second, Draw: none}
	for n, want := range []struct{ try, pause time.Duration }{
		{1250 * time.Millisecond, 50 * time.Millisecond},
		{2500 * time.Millisecond, 100 * time.Millisecond},
		{5 * time.Second, 200 * time.Millisecond},
		{5 * time.Second, 400 * time.Millisecond},
		{5 * time.Second, 800 * time.Millisecond},
		{5 * time.Second, 800 * time.Millisecond},
	} {
		if p.Try(n) != want.try || p.Delay(n) != want.pause {
			t.Errorf("try %d takes %s and rests for %s", n, p.Try(n), p.Delay(n))
		}
		if least := (lock.RetryPolicy{Total: p.Total, Draw: most}).Delay(n); least != want.pause/2 {
			t.Errorf("after try %d it may rest for no more than %s", n, least)
		}
	}
	if p.Reserve() != 500*time.Millisecond || (lock.RetryPolicy{Total: time.Second}).Reserve() != 100*time.Millisecond {
		t.Errorf("it keeps back %s", p.Reserve())
	}
}

func TestManyTriesOverflowNothing(t *testing.T) {
	p := lock.RetryPolicy{Total: time.Hour}
	if p.Try(1<<30) != time.Hour || p.Delay(1<<30) > 800*time.Millisecond {
		t.Errorf("%s, %s", p.Try(1<<30), p.Delay(1<<30))
	}
}

func TestTryTwiceAsksAgainInTheRemainingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began, silent := time.Now(), errors.New("no answer")
		asked := 0
		unconfirmed, err := lock.TryTwice(ctx, func(ctx context.Context) error {
			if asked++; asked > 1 {
				return nil
			}
			<-ctx.Done()
			return silent
		}, func(err error) bool { return err == silent })
		if asked != 2 || !unconfirmed || err != nil || time.Since(began) != time.Second {
			t.Errorf("%d times, %v, %v after %s", asked, unconfirmed, err, time.Since(began))
		}
	})
}

func TestTryTwiceAsksOnceIfThereIsAnAnswer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	asked := 0
	unconfirmed, err := lock.TryTwice(ctx, func(context.Context) error { asked++; return nil },
		func(error) bool { return true })
	if asked != 1 || unconfirmed || err != nil {
		t.Errorf("%d times, %v, %v", asked, unconfirmed, err)
	}
}

// An answer that will not be otherwise ends the asking, whatever time is left.
func TestRetryUntilFinalStopsAfterAFinalAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began, silent, refused := time.Now(), errors.New("no answer"), errors.New("refused")
		times := lock.TimesOf(time.Minute)
		asked := 0
		ask := func(context.Context) error {
			if asked++; asked == 1 {
				return silent
			}
			return refused
		}
		is := func(one error) func(error) bool { return func(err error) bool { return err == one } }
		unconfirmed, err := lock.RetryUntilFinal(ctx, times, nil, ask, is(silent), is(refused))
		if asked != 2 || !unconfirmed || err != refused || time.Since(began) > times.RetryDelay {
			t.Errorf("%d times, %v, %v after %s", asked, unconfirmed, err, time.Since(began))
		}
	})
}

package line_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func TestABusyAnswerSaysSinceWhenTheLockIsHeld(t *testing.T) {
	t.Parallel()
	locktest.SaysSinceWhen(t, open(t, redistest.Start(t, redistest.Options{}).URL()))
}

func TestALeaseRunsOutWhileTheMachineSleeps(t *testing.T) {
	locktest.CountsASleep(t, open(t, redistest.Start(t, redistest.Options{}).URL()))
}

func TestOfAForeignValueNobodyKnowsSinceWhen(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	locktest.Do(t, s, "SET", wire.KeysOf(lock.DefaultPrefix, "job", "").Lock, "somebody")
	if since := locktest.MustBeBusy(t, open(t, s.URL()), "job").Since; !since.IsZero() {
		t.Errorf("since %v", since)
	}
}

// A waiter that is not one of the first looks every five seconds; whose the lock is
// when its wait is over it is told when it leaves the line.
func TestAWaitThatRunsOutSaysWhoseTheLockIsThen(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	key := wire.KeysOf(lock.DefaultPrefix, "job", "").Lock
	old := fmt.Sprintf(`{"run":"%s","v":1,"host":"old","pid":1,"user":"u","cmd":"c","start":1,"fence":1,"at":1000}`,
		lock.NewRunID())
	locktest.Do(t, s, "SET", key, old)
	req := locktest.RequestFor("job")
	req.Wait.Limit = 500 * time.Millisecond
	req.OnBusy = func(e *lock.HeldError) {
		if e.Position > 0 {
			locktest.Do(t, s, "SET", key, strings.Replace(old, `"old"`, `"new"`, 1))
		}
	}
	_, err := open(t, s.URL()).Acquire(t.Context(), req)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Holder.Host != "new" {
		t.Errorf("%v", err)
	}
}

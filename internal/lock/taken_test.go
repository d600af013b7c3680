package lock

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/redistest"
)

func TestABusyAnswerSaysSinceWhenTheLockIsHeld(t *testing.T) {
	saysSinceWhen(t, open(t, redistest.Start(t, redistest.Options{}).URL()))
}

func TestOfAForeignValueNobodyKnowsSinceWhen(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	do(t, s, "SET", keysOf(DefaultPrefix, "job", "").lock, "somebody")
	if since := mustBeBusy(t, open(t, s.URL()), "job").Since; !since.IsZero() {
		t.Errorf("since %v", since)
	}
}

// A waiter that is not one of the first looks every five seconds; whose the lock is
// when its wait is over it is told when it leaves the line.
func TestAWaitThatRunsOutSaysWhoseTheLockIsThen(t *testing.T) {
	s := redistest.Start(t, redistest.Options{})
	key := keysOf(DefaultPrefix, "job", "").lock
	old := fmt.Sprintf(`{"run":"%s","v":1,"host":"old","pid":1,"user":"u","cmd":"c","start":1,"fence":1,"at":1000}`, NewRunID())
	do(t, s, "SET", key, old)
	req := requestFor("job")
	req.Wait.Limit = 500 * time.Millisecond
	req.OnBusy = func(e *HeldError) {
		if e.Place > 0 {
			do(t, s, "SET", key, strings.Replace(old, `"old"`, `"new"`, 1))
		}
	}
	_, err := open(t, s.URL()).Acquire(t.Context(), req)
	var held *HeldError
	if !errors.As(err, &held) || held.Holder.Host != "new" {
		t.Errorf("%v", err)
	}
}

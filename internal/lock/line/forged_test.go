package line_test

import (
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

// Whoever may publish can say anything to a waiter: it asks the key before it believes that.
func TestAForgedMessageEndsNoWaiter(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]lock.Request{"without a slot": waits("job", lock.Forever),
		"with one": inSlot(lock.Forever)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, s, held := holding(t)
			first, _ := park(t, srv, s, req, 1)
			second, _ := park(t, srv, s, waits("job", lock.Forever), 2)
			for _, message := range []string{"d closed 1 x", "d", "t open 1 - a/b/failed/1/1", "t", "g", "n 0 1",
				"d closed 1 x"} {
				if n := locktest.Do(t, srv, "PUBLISH", "redlockrun:{job}:"+req.Holder.Run, message); n != int64(1) {
					t.Fatalf("%q: %v hear it", message, n)
				}
			}
			release(t, held)
			release(t, lease(t, first))
			release(t, lease(t, second))
		})
	}
}

// It looks again and again, and waits since it came.
func TestAWaiterIsThereSinceItAskedFirst(t *testing.T) {
	t.Parallel()
	srv, s, _ := holding(t)
	locktest.Do(t, srv, "ACL", "SETUSER", "default", "-publish") // a waiter that is not called looks twice a second
	req := waits("job", lock.Forever)
	before := clockOf(steps{t: t, server: srv})
	park(t, srv, s, req, 1)
	entry := func() string { return locktest.Do(t, srv, "HGET", jobKey+":waiters", req.Holder.Run).(string) }
	looked := entry()
	since := wire.ReadWaiter(req.Holder.Run, looked).Since
	if ms := since.UnixMilli(); ms < before || ms > clockOf(steps{t: t, server: srv}) {
		t.Errorf("since %v, and it came after %d", since, before)
	}
	for range 2 {
		last := looked
		locktest.Until(t, "another look", func() bool { looked = entry(); return looked != last })
	}
	if again := wire.ReadWaiter(req.Holder.Run, looked).Since; !again.Equal(since) {
		t.Errorf("since %v, and after two more looks since %v", since, again)
	}
}

package wire

import (
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// held is a job whose holder took the lock so long ago, and has so much left of it.
func held(ttl, ago, left time.Duration) lock.Job {
	now := time.UnixMilli(1795344187661)
	return lock.Job{
		Now: now, At: now.Add(-ago), Left: left,
		Holder: lock.Holder{Run: "01AAAAAAAAAAAAAAAAAAAAAAAA", TTL: ttl, Every: lock.TimesOf(ttl).Renew},
	}
}

func open(j lock.Job) lock.Job {
	j.Open.Run = j.Holder.Run
	return j
}

func TestTheStateOfAHeldLockFollowsFromItsTimes(t *testing.T) {
	unknown := held(time.Minute, 0, 1500*time.Millisecond)
	unknown.At = time.Time{}
	old := held(0, time.Hour, time.Second)
	old.Holder.Every = 0
	for _, c := range []struct {
		name string
		job  lock.Job
		want lock.State
	}{
		{"just taken", open(held(time.Minute, 0, time.Minute)), lock.StateRunning},
		{"just taken for a probation", open(held(10*time.Minute, 0, time.Minute)), lock.StateRunning},
		{"handed over", held(time.Minute, time.Second, time.Second), lock.StateStarting},
		{"handed over, and then known", open(held(time.Minute, time.Second, time.Second)), lock.StateRunning},
		{"handed over, not to be called", held(time.Minute, time.Second, 5*time.Second), lock.StateStarting},
		{"handed over for a short ttl", held(5*time.Second, time.Second, time.Second), lock.StateStarting},
		{"a ttl no longer than a hand-over", held(2*time.Second, 0, 2*time.Second), lock.StateRunning},
		{"a run without history in its last second", held(time.Minute, time.Hour, time.Second), lock.StateSilent},
		{"since nobody knows when, for a moment", unknown, lock.StateStarting},
		{"of an older release", old, lock.StateRunning},
		{"as late as may be", open(held(time.Minute, time.Hour, 36*time.Second)), lock.StateRunning},
		{"a bit later", open(held(time.Minute, time.Hour, 36*time.Second-time.Millisecond)), lock.StateSilent},
		{"for ever", held(time.Minute, 0, -1), lock.StateStuck},
	} {
		if got := StateOfHeld(&c.job, false); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

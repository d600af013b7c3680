package watchdog_test

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAWishThatTheRunEndIsToldOnceAndTheLeaseIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := alarmed(minute), new(diary)
		cfg.Observer = seen
		r := replies(t, minute, 0, nil)
		r.stop = func() bool { return len(r.tries()) >= 2 }
		if stats := keep(r, cfg).stopAfter(t, 10*time.Minute); stats.Lost != nil || stats.Renewed < 25 {
			t.Errorf("%+v", stats)
		}
		seen.says(t, "stop asked")
	})
}

func TestAWishThatCameWhileSuspendedIsToldWhenResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(diary)
		cfg := resumable(5 * time.Second)
		cfg.Observer = seen
		r := replies(t, minute, 0, nil)
		k := suspended(r, cfg)
		r.stop = func() bool { return true }
		k.resumes(t, nil)
		k.stopAfter(t, 0)
		seen.says(t, "stop asked")
	})
}

func TestAWishThatCameWhileTheLeaseWasLostIsToldWhenItIsRegained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, seen := continuing()
		cfg.Renew = 50 * time.Minute // no other renewal comes
		r := outageFor(t, 3*time.Minute, nil)
		r.stop = func() bool { return true }
		keep(r, cfg).stays(t, 51*time.Minute)
		seen.losses().says(t, "runs on: dial: connection refused", "regained", "stop asked")
	})
}

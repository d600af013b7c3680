package operator

import (
	"testing"
	"time"

	"redlockrun/internal/explain"
	"redlockrun/internal/lock"
)

func TestAHolderIsLateWhenARenewalAndTwoTriesAreMissing(t *testing.T) {
	times := lock.TimesOf(time.Minute)
	now := time.Unix(1e9, 0)
	holder := lock.Holder{Run: "r", TTL: time.Minute, Every: times.Renew}
	slack := times.Renew + 2*times.Try
	for _, c := range []struct {
		what  string
		held  time.Duration
		left  time.Duration
		late  bool
		heeds time.Duration
	}{
		{"has just renewed", time.Hour, time.Minute, false, slack},
		{"is about to renew", time.Hour, time.Minute - times.Renew, false, 2 * times.Try},
		{"has not renewed", time.Hour, 30 * time.Second, true, 30 * time.Second},
		{"has been handed the lock, and has not begun", time.Second, 2 * time.Second, false, slack - time.Second},
		{"never expires", time.Hour, -1, false, slack},
	} {
		changed := lock.ChangeResult{Now: now, Holder: holder, At: now.Add(-c.held), Left: c.left}
		if _, late := unrenewed(changed); late != c.late {
			t.Errorf("one that %s: late: %v", c.what, late)
		}
		if by := learnsBy(changed).Sub(now); by != c.heeds {
			t.Errorf("one that %s heeds it in %v, want %v", c.what, by, c.heeds)
		}
	}
	unknown := lock.ChangeResult{Now: now, Holder: lock.Holder{Run: "r"}, Left: 40 * time.Second}
	if _, late := unrenewed(unknown); late || learnsBy(unknown).Sub(now) != 40*time.Second {
		t.Errorf("of one whose times are unknown: late: %v, %v", late, learnsBy(unknown))
	}
}

func TestANameMayContainASlash(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		fits          bool
	}{
		{"billing*", "billing/a/b", true}, {"*", "a/b", true}, {"a?b", "a/b", true}, {"a/*", "a/b", true},
		{"[a-c]x", "bx", true},
		{`\*`, "*", true}, {`\*`, "a", false}, {"billing", "billing/a", false}, {"a/b", "a-b", false},
	} {
		if matches(c.pattern, c.name) != c.fits {
			t.Errorf("%q matches %q: %v", c.pattern, c.name, !c.fits)
		}
	}
}

func TestAnOutageIsWorseThanARefusal(t *testing.T) {
	order := []int{explain.StatusBusy, explain.StatusNotLock, explain.StatusUnavailable, explain.StatusFailed}
	for i, status := range order[1:] {
		if badness(status) <= badness(order[i]) {
			t.Errorf("%d is not worse than %d", status, order[i])
		}
	}
}

package lock

import (
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestTimesAreThoseOfTheContract(t *testing.T) {
	const second = time.Second
	for _, want := range []Times{
		{TTL: 500 * ms, Drift: 7 * ms, Margin: 50 * ms, Grace: 500 * ms / 6, Try: 50 * ms, RetryDelay: 50 * ms,
			Renew: 500 * ms / 3},
		{TTL: time.Second, Drift: 12 * ms, Margin: 50 * ms, Grace: time.Second / 6, Try: 100 * ms,
			RetryDelay: 50 * ms, Renew: time.Second / 3},
		{TTL: 6 * time.Second, Drift: 62 * ms, Margin: 300 * ms, Grace: time.Second, Try: 600 * ms,
			RetryDelay: 200 * ms, Renew: 2 * time.Second},
		{TTL: time.Minute, Drift: 602 * ms, Margin: second, Grace: 10 * second, Try: 2 * second, RetryDelay: second,
			Renew: 20 * second},
		{TTL: time.Hour, Drift: 36002 * ms, Margin: second, Grace: 10 * second, Try: 2 * second, RetryDelay: second,
			Renew: 20 * second},
		{TTL: 7 * 24 * time.Hour, Drift: 6048002 * ms, Margin: second, Grace: 10 * second, Try: 2 * second,
			RetryDelay: second,
			Renew:      20 * second},
	} {
		if got := TimesOf(want.TTL); got != want {
			t.Errorf("ttl %v:\n got %+v\nwant %+v", want.TTL, got, want)
		}
	}
}

func TestTheInstantsOfALeaseAreThoseOfTheContract(t *testing.T) {
	sent := time.Unix(1_000_000_000, 0)
	given := TimesOf(6 * time.Second)
	given.Grace = 2 * time.Second
	for _, c := range []struct {
		times                      Times
		end, kill, term, guardKill time.Duration
	}{
		{TimesOf(500 * ms), 493 * ms, 443 * ms, 443*ms - 500*ms/6, 468 * ms},
		{TimesOf(6 * time.Second), 5938 * ms, 5638 * ms, 4638 * ms, 5788 * ms},
		{TimesOf(time.Minute), 59398 * ms, 58398 * ms, 48398 * ms, 58898 * ms},
		{given, 5938 * ms, 5638 * ms, 3638 * ms, 5788 * ms},
	} {
		until := c.times.End(sent)
		for name, instant := range map[string]struct {
			got  time.Time
			want time.Duration
		}{
			"V": {until, c.end}, "T_kill": {c.times.Kill(until), c.kill}, "T_term": {c.times.Term(until), c.term},
			"the guard's": {c.times.GuardKill(until), c.guardKill}, "the send": {c.times.Sent(until), 0},
		} {
			if got := instant.got.Sub(sent); got != instant.want {
				t.Errorf("ttl %v: %s is %v after the send, want %v", c.times.TTL, name, got, instant.want)
			}
		}
	}
}

// ttls calls each with every ttl from 0.5 s to 7 days in steps that grow, and
// with a few thousand that are drawn.
func ttls(each func(time.Duration)) {
	const low, high = 500 * ms, 7 * 24 * time.Hour
	for ttl := low; ttl < high; ttl += max(ms, ttl/1000) {
		each(ttl)
	}
	for range 5000 {
		each(low + rand.N(5*time.Second))
		each(low + rand.N(high-low))
	}
	each(high)
}

func TestTheDefaultTimesFitIntoEveryTTL(t *testing.T) {
	ttls(func(ttl time.Duration) {
		if times := TimesOf(ttl); !times.Fit() {
			t.Errorf("ttl %v: %+v do not fit", ttl, times)
		}
	})
}

func TestTimesKeepTheirOrderAndBounds(t *testing.T) {
	within := func(low, d, high time.Duration) bool { return low <= d && d <= high }
	ttls(func(ttl time.Duration) {
		x := TimesOf(ttl)
		ok := x.TTL == ttl &&
			within(50*ms, x.Margin, time.Second) && within(50*ms, x.Grace, 10*time.Second) &&
			within(50*ms, x.Try, 2*time.Second) && within(50*ms, x.RetryDelay, time.Second) &&
			within(166*ms, x.Renew, 20*time.Second) && x.RetryDelay <= x.Try && x.Try < x.Renew && x.Drift < ttl/50
		if !ok {
			t.Errorf("ttl %v: %+v", ttl, x)
		}
	})
}

func TestLongerTTLsNeverShortenATime(t *testing.T) {
	last := TimesOf(500 * ms)
	for ttl := 501 * ms; ttl < 10*time.Minute; ttl += 7 * ms {
		x := TimesOf(ttl)
		if x.Drift < last.Drift || x.Margin < last.Margin || x.Grace < last.Grace ||
			x.Try < last.Try || x.RetryDelay < last.RetryDelay || x.Renew < last.Renew {
			t.Errorf("ttl %v: %+v after %+v", ttl, x, last)
		}
		last = x
	}
}

func TestTimesThatAFlagMakesTooLongDoNotFit(t *testing.T) {
	exact := TimesOf(time.Minute)
	exact.Grace = exact.TTL - exact.Drift - exact.Margin - exact.Renew - 2*exact.Try
	if !exact.Fit() {
		t.Errorf("%+v fit to the nanosecond", exact)
	}
	for _, grow := range []*time.Duration{&exact.Grace, &exact.Renew, &exact.Try, &exact.Margin, &exact.Drift} {
		*grow++
		if exact.Fit() {
			t.Errorf("%+v is a nanosecond too long", exact)
		}
		*grow--
	}
}

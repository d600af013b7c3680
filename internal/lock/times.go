package lock

import "time"

// Times are the durations that follow from a lock's ttl. This is the one
// place for them; what a flag overrides is overridden in a copy.
//
// With sent the instant before a successful acquire or renewal was sent:
//
//	V      = sent + ttl - Drift     the end of the lease
//	T_kill = V - Margin             SIGKILL (the guard's: V - Margin/2)
//	T_term = T_kill - Grace         SIGTERM
type Times struct {
	TTL    time.Duration
	Drift  time.Duration // how far the server's clock may run ahead of ours during one ttl
	Margin time.Duration // between SIGKILL and the end of the lease
	Grace  time.Duration // between SIGTERM and SIGKILL
	Try    time.Duration // the limit of one request
	Pause  time.Duration // between two tries of a request that got no answer, before jitter
	Renew  time.Duration // from one renewal to the next, before up to a tenth is taken off
}

// TimesOf derives the times of a lock from its ttl. The drift is that of the
// Redis documentation's page on distributed locks: 1 % and 2 ms.
func TimesOf(ttl time.Duration) Times {
	return Times{
		TTL:    ttl,
		Drift:  ttl/100 + 2*time.Millisecond,
		Margin: between(50*time.Millisecond, ttl/20, time.Second),
		Grace:  between(50*time.Millisecond, ttl/6, 10*time.Second),
		Try:    between(50*time.Millisecond, ttl/10, 2*time.Second),
		Pause:  between(50*time.Millisecond, ttl/30, time.Second),
		Renew:  min(ttl/3, 20*time.Second),
	}
}

// Fit reports whether a renewal and two tries of it have room before T_term.
func (t Times) Fit() bool {
	return t.Renew+2*t.Try <= t.TTL-t.Drift-t.Margin-t.Grace
}

func between(low, d, high time.Duration) time.Duration { return min(max(low, d), high) }

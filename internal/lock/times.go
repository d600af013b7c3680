package lock

import "time"

// Times are the durations that follow from a lock's ttl, and the one place for the instants of a
// lease. A caller that overrides one changes a copy.
type Times struct {
	TTL        time.Duration
	Drift      time.Duration // how far the server's clock may run ahead of ours during one ttl
	Margin     time.Duration // between SIGKILL and the end of the lease
	Grace      time.Duration // between SIGTERM and SIGKILL
	Try        time.Duration // the limit of one request
	RetryDelay time.Duration // between two tries of a request that got no answer, before jitter
	Renew      time.Duration // from one renewal to the next, before up to a tenth is taken off
}

// TimesOf derives the times of a lock from its ttl. The drift comes from the
// Redis documentation's page on distributed locks: 1 % and 2 ms.
func TimesOf(ttl time.Duration) Times {
	return Times{
		TTL:        ttl,
		Drift:      ttl/100 + 2*time.Millisecond,
		Margin:     Clamp(50*time.Millisecond, ttl/20, time.Second),
		Grace:      Clamp(50*time.Millisecond, ttl/6, 10*time.Second),
		Try:        Clamp(50*time.Millisecond, ttl/10, 2*time.Second),
		RetryDelay: Clamp(50*time.Millisecond, ttl/30, time.Second),
		Renew:      min(ttl/3, 20*time.Second),
	}
}

// End is the end V of a lease, with sent the instant before the acquire or renewal that succeeded
// was sent:
//
//	V = sent + ttl - Drift
//
// All instants of a lease come from package boottime.
func (t Times) End(sent time.Time) time.Time { return sent.Add(t.TTL - t.Drift) }

// Sent is the instant from which a lease that ends at until counts; see End.
func (t Times) Sent(until time.Time) time.Time { return until.Add(t.Drift - t.TTL) }

// Kill is when redlockrun sends SIGKILL at the latest, under a lease that ends at
// until:
//
//	T_kill = V - Margin
func (t Times) Kill(until time.Time) time.Time { return until.Add(-t.Margin) }

// Term is when redlockrun sends SIGTERM at the latest, under a lease that ends at
// until. From then on no renewal is sent:
//
//	T_term = T_kill - Grace
func (t Times) Term(until time.Time) time.Time { return t.Kill(until).Add(-t.Grace) }

// GuardKill is when the guard sends SIGKILL, under a lease that ends at until. It
// comes after Kill, so that the guard acts only if redlockrun does not:
//
//	V - Margin/2
func (t Times) GuardKill(until time.Time) time.Time { return until.Add(-t.Margin / 2) }

// Fit reports whether a renewal and two tries of it fit before Term.
func (t Times) Fit() bool {
	var sent time.Time // whenever that is
	return !sent.Add(t.Renew + 2*t.Try).After(t.Term(t.End(sent)))
}

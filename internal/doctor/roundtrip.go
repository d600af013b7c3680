package doctor

import (
	"context"
	"slices"
	"time"

	"redlockrun/internal/config"
)

// samples is how often a server is asked to see how long that takes.
const samples = 20

// checkRoundTrip compares the time of an answer with the time that a renewal may take.
func checkRoundTrip(ctx context.Context, v *visit) []Finding {
	var took []time.Duration
	for range samples {
		began := time.Now()
		if _, err := v.ask(ctx, "TIME"); err != nil && !barred(err) {
			return []Finding{v.is("round-trip", Fail, "%d of %d requests were answered: %s", len(took), samples,
				v.Say(err)).
				to("check the network and the load of the server")}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	said := func(r Result, rest string, args ...any) Finding {
		args = append([]any{short(median), short(worst), samples, config.Exact(v.Times.TTL)}, args...)
		return v.is("round-trip", r, "median %s, worst %s of %d; for a ttl of %s "+rest, args...)
	}
	switch try := v.Times.Try; {
	case median > try:
		return []Finding{said(Fail, "an answer may take %s", try).to("use a longer --ttl, or a server that is closer")}
	case worst > try/2:
		return []Finding{said(Warn, "an answer may take %s", try).
			to("use a longer --ttl; find out what slows the server or the network")}
	}
	return []Finding{said(Ok, "this is short")}
}

// short is a duration with two or three digits.
func short(d time.Duration) time.Duration {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond)
	case d < time.Second:
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}

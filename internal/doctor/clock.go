package doctor

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// clockTolerance is the difference that two kept clocks may have.
const clockTolerance = 2 * time.Second

// checkClock compares the server's clock with this host's.
func checkClock(ctx context.Context, v *visit) []Finding {
	ahead, within, err := v.compareClocks(ctx)
	switch {
	case barred(err):
		return []Finding{v.is("clock", Unseen, "the server's clock: user %s may not use TIME", v.user())}
	case err != nil:
		return []Finding{v.is("clock", Fail, "%s", v.Say(err)).to("check that the server is alive")}
	case ahead.Abs()-within > clockTolerance:
		word := "ahead of"
		if ahead < 0 {
			word = "behind"
		}
		return []Finding{v.is("clock", Warn, "the server's clock is %s %s this host's",
			ahead.Abs().Round(100*time.Millisecond), word).
			to("run chrony or systemd-timesyncd on both: " +
				"--once-per uses the host's clock, everything else the server's")}
	}
	return []Finding{v.is("clock", Ok, "the server's clock and this host's agree")}
}

// compareClocks is how far the server's clock is ahead of this host's, to within so much: what
// the fastest of some answers says.
func (v *visit) compareClocks(ctx context.Context) (ahead, within time.Duration, err error) {
	for n := range 5 {
		sent := time.Now()
		reply, err := v.ask(ctx, "TIME")
		took := time.Since(sent)
		if err != nil {
			return 0, 0, err
		}
		there, ok := instantOf(reply)
		if !ok {
			return 0, 0, fmt.Errorf("read TIME: %v is not a time", reply)
		}
		if n == 0 || took/2 < within {
			within = took / 2
			ahead = there.Sub(sent.Round(0).Add(within))
		}
	}
	return ahead, within, nil
}

// instantOf reads a reply of TIME: seconds and microseconds.
func instantOf(reply any) (t time.Time, ok bool) {
	list, _ := reply.([]any)
	if len(list) != 2 {
		return t, false
	}
	s, err := strconv.ParseInt(fmt.Sprint(list[0]), 10, 64)
	us, err2 := strconv.ParseInt(fmt.Sprint(list[1]), 10, 64)
	return time.Unix(s, us*1000), err == nil && err2 == nil
}

// checkScriptTime checks the clock that scripts see. Fencing tokens and the times of runs come
// from it.
func checkScriptTime(ctx context.Context, v *visit) []Finding {
	reply, err := v.ask(ctx, "EVAL", "return redis.call('time')", "0")
	there, ok := instantOf(reply)
	switch {
	case barred(err): // said by the rights
		return nil
	case err != nil:
		return []Finding{v.is("script-time", Fail, "TIME in a script: %s", v.Say(err)).
			to("check that the server is alive")}
	case !ok || there.Year() < 2020:
		return []Finding{v.is("script-time", Warn,
			"TIME in a script returns no time: start times are unknown, and a lost fence starts anew").
			to("check any proxy before the server, and the server's clock")}
	}
	return []Finding{v.is("script-time", Ok, "scripts can read the time")}
}

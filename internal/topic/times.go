package topic

import (
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
)

const timesText = `Times

  redlockrun --key import --ttl {TTL} -- import-orders

--ttl is how long Redis keeps the lock without news from redlockrun. All other times follow from it.
An example with --ttl {TTL}, counted from the last renewal that succeeded:

  {RENEW}  redlockrun renews the lock, and the times begin anew (--renew-every)
  {TERM}  if no renewal has succeeded since: SIGTERM to the command
  {KILL}  if the command still runs: SIGKILL, from redlockrun
  {GUARD}  if redlockrun itself is stuck: SIGKILL, from its guard
  {END}  the lease ends for redlockrun; clocks may differ by 1 % and 2 ms
  {EXPIRY}  Redis removes the lock, and another run can take it

redlockrun stops the command before another run can start. The times between:

  grace    {GRACE}  from SIGTERM to SIGKILL: ttl/6, at most 10s (--grace)
  margin   {MARGIN}  from SIGKILL to the end of the lease: ttl/20, at most 1s
  try      {TRY}  the limit of one request: ttl/10, at most 2s

With this ttl, the job survives each outage of Redis up to {LEAST}; one of more than {MOST} stops it.
If the host of a job dies, another run can start after {TTL} at the latest.

A longer ttl survives longer outages, but blocks longer after a host has died. A ttl of 60s fits
most jobs. The ttl is no limit for the job: a job of hours needs no longer ttl.

A long --grace needs a long ttl: a renewal, two tries, the grace and the margin must fit into it.
redlockrun refuses other values with 64, and names a ttl that fits.
`

// exampleTTL is the ttl of the worked example.
const exampleTTL = time.Minute

// times returns the text with a worked example, computed as a run computes it.
func times() string {
	t, sent := lock.TimesOf(exampleTTL), time.Time{}
	end := t.End(sent)
	after := func(at time.Time) string { return column(at.Sub(sent)) }
	stop := t.Term(end).Sub(sent)
	survived := stop - t.Renew - t.Try - t.RetryDelay // if a renewal is due at once
	return strings.NewReplacer("{TTL}", config.Exact(t.TTL), "{RENEW}", column(t.Renew), "{TERM}", after(t.Term(end)),
		"{GUARD}", after(t.GuardKill(end)), "{KILL}", after(t.Kill(end)), "{END}", after(end), "{EXPIRY}",
		column(t.TTL),
		"{GRACE}", column(t.Grace), "{MARGIN}", column(t.Margin), "{TRY}", column(t.Try),
		"{LEAST}", config.Exact(survived.Truncate(time.Second)), "{MOST}", config.Exact(stop.Truncate(time.Second)),
	).Replace(timesText)
}

// column formats a duration to the width of the others.
func column(d time.Duration) string {
	text := strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	return strings.Repeat(" ", max(0, 6-len(text))) + text
}

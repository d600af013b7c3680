package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"redlockrun/internal/lock"
)

// askMaster asks one of a quorum for what surveyQuorum compares: its clock, and what tells its
// process from every other.
func askMaster(ctx context.Context, v *visit) []Finding {
	if len(v.Servers.URLs) < 2 {
		return nil
	}
	if ahead, within, err := v.compareClocks(ctx); err == nil {
		v.told.clock = &reading{ahead, within}
	}
	info, err := v.Info(ctx)
	if err != nil {
		found := []Finding{v.is("quorum", Unseen, "cannot check that the masters are different servers: %s",
			v.Say(err)).to("grant +info to check it")}
		if barred(err) && !v.Servers.Durable {
			found = append(found, v.is("rights", Fail,
				"user %s lacks %s: without --durable this master does not vote", v.user(), lock.QuorumACL).
				to("%s", v.grant(lock.QuorumACL)))
		}
		return found
	}
	v.told.run = info["run_id"]
	return v.checkUptime(info["uptime_in_seconds"])
}

// checkUptime checks whether a master votes: one that restarted may have forgotten its locks.
func (v *visit) checkUptime(seconds string) []Finding {
	up, err := strconv.ParseInt(seconds, 10, 32)
	wait := v.Servers.UptimeToVote(v.Times.TTL) - up
	if err != nil || wait <= 0 {
		return nil
	}
	v.told.votes = time.Now().Add(time.Duration(wait) * time.Second)
	return []Finding{v.is("quorum", Warn, "it was started %d s ago, and does not vote until %s", up,
		lock.LocalTime(v.told.votes)).
		to("wait, or use --durable if the masters keep their data in a restart (appendfsync always)")}
}

// surveyQuorum checks whether a majority of different servers is usable.
func surveyQuorum(_ context.Context, e *Examination, visits []*visit) []Finding {
	size := len(e.Servers.URLs)
	if size < 2 {
		return nil
	}
	found := doubles(visits)
	switch here, need := len(usable(visits)), lock.Majority(size); {
	case here < need:
		found = append(found, about("quorum", Fail,
			"%d of %d masters can be used, and %d are needed: no job runs (69)", here, size, need).
			to("fix the failures above"))
	case here < size:
		found = append(found, about("quorum", Warn, "%d of %d masters can be used, and %d are needed: %s", here, size,
			need, toSpare(here-need)).
			to("fix the failures above"))
	default:
		found = append(found, about("quorum", Ok, "%d of %d masters can be used, and %d are needed", here, size, need))
	}
	found = append(found, e.unelectable(visits)...)
	found = append(found, apart(visits)...)
	if size%2 == 0 {
		found = append(found, about("quorum", Warn,
			"%d masters survive the loss of %d, as %d would: one master is superfluous",
			size, size-lock.Majority(size), size-1).to("use three or five masters"))
	}
	return found
}

// unelectable reports a quorum with too many usable masters that do not vote yet.
func (e *Examination) unelectable(visits []*visit) []Finding {
	here := usable(visits)
	size, voters := len(e.Servers.URLs), 0
	need := lock.Majority(size)
	var later []time.Time
	for _, v := range here {
		if v.told.votes.IsZero() {
			voters++
		} else {
			later = append(later, v.told.votes)
		}
	}
	if len(here) < need || voters >= need {
		return nil
	}
	slices.SortFunc(later, time.Time.Compare)
	return []Finding{about("quorum", Fail, "%d of %d masters %s, and %d are needed: no job runs (69) until %s",
		voters, size, plural(voters, "votes", "vote"), need, lock.LocalTime(later[need-voters-1])).
		to("wait until then; " +
			"or use --durable if the masters keep their data in a restart (appendfsync always)")}
}

func toSpare(n int) string {
	if n == 0 {
		return "no other may fail"
	}
	return fmt.Sprintf("%d more may fail", n)
}

// doubles reports the servers that more than one URL leads to.
func doubles(visits []*visit) (found []Finding) {
	first := make(map[string]*visit)
	for _, v := range visits {
		other := first[v.told.run]
		switch {
		case v.told.run == "":
		case other == nil:
			first[v.told.run] = v
		default:
			found = append(found, about("quorum", Fail,
				"%s and %s are one server: it votes once, and if it dies, two are gone",
				other.Address(), v.Address()).to("use servers that fail independently"))
		}
	}
	return found
}

// usable are the masters that a run can use: each server once, and those that do not tell who
// they are counted as others.
func usable(visits []*visit) (some []*visit) {
	seen := make(map[string]bool)
	for _, v := range visits {
		if !seen[v.told.run] && !slices.ContainsFunc(v.found, isFatal) {
			some = append(some, v)
		}
		seen[v.told.run] = v.told.run != ""
	}
	return some
}

// isFatal reports whether a finding says that no run can use the server.
func isFatal(f Finding) bool { return f.Check == "rights" && f.Result == Fail }

// A reading is a server's clock: how far it is ahead of this host's, and the error of that.
type reading struct{ ahead, within time.Duration }

// apart compares the two masters whose clocks differ most.
func apart(visits []*visit) []Finding {
	visits = slices.DeleteFunc(slices.Clone(visits), func(v *visit) bool { return v.told.clock == nil })
	if len(visits) < 2 {
		return nil
	}
	byClock := func(a, b *visit) int { return cmp.Compare(a.told.clock.ahead, b.told.clock.ahead) }
	slow, fast := slices.MinFunc(visits, byClock), slices.MaxFunc(visits, byClock)
	by := fast.told.clock.ahead - slow.told.clock.ahead
	if by-fast.told.clock.within-slow.told.clock.within <= clockTolerance {
		return []Finding{about("quorum", Ok, "the clocks of the masters agree")}
	}
	return []Finding{about("quorum", Warn,
		"the clock of %s is %s ahead of that of %s: their times of one run differ",
		fast.Address(), by.Round(100*time.Millisecond), slow.Address()).to("run chrony or systemd-timesyncd on both")}
}

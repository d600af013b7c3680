package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/doctor"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/redistest"
)

// permit gives the user jobs these rights and no others.
func permit(t *testing.T, s *redistest.Server, rights ...string) {
	t.Helper()
	words := []any{"ACL", "SETUSER", "jobs", "reset", "on", ">pw", "-@all"}
	for _, right := range rights {
		words = append(words, right)
	}
	do(t, s, words...)
}

// jobs are the rights of a job, each once.
func jobs() []string {
	rights := strings.Fields(lock.MinimalACL + " " + lock.WaitingACL + " " + lock.SlotsACL + " " + lock.LedgerACL)
	slices.Sort(rights)
	return slices.Compact(rights)
}

func TestTheRightsOfAJobAreEnough(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	permit(t, s, jobs()...)
	found := examine(t, at(strings.Replace(s.URL(), "://", "://jobs:pw@", 1)))
	isFine(t, found)
	wants(t, found, "rights", doctor.Ok, "user jobs has all rights that runs need")
	wants(t, found, "rehearsal", doctor.Ok, "")
	wants(t, found, "eviction", doctor.Unseen, "user jobs lacks the right")
	wants(t, found, "persistence", doctor.Unseen, "user jobs lacks the right")
	if keys := do(t, s, "KEYS", "*").([]any); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
}

// bare looks at a server as the user jobs, and rehearses nothing.
func bare(t *testing.T, s *redistest.Server) []doctor.Finding {
	t.Helper()
	cfg := at(strings.Replace(s.URL(), "://", "://jobs:pw@", 1))
	e, err := doctor.Open(t.Context(), cfg, times(), patience)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(e.Examine(t.Context()), func(f doctor.Finding) bool { return f.Check == "host-clock" })
}

func TestEachRightThatIsLackingIsNamedAndItsRemedyMendsIt(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	for _, right := range redistest.Rules(jobs()) {
		permit(t, s, slices.DeleteFunc(jobs(), func(r string) bool { return r == right })...)
		found := bare(t, s)
		i := slices.IndexFunc(found, func(f doctor.Finding) bool {
			return f.Result != doctor.Ok && slices.Contains(strings.Fields(f.Remedy), right)
		})
		if i < 0 {
			t.Errorf("nobody misses %s: %+v", right, found)
			continue
		}
		needed := slices.Contains(strings.Fields(lock.MinimalACL), right)
		if needed != (found[i].Result == doctor.Fail) {
			t.Errorf("without %s: %+v", right, found[i])
		}
		for _, f := range found {
			for _, word := range strings.Fields(f.Remedy) {
				if f.Check == "rights" && f.Result != doctor.Ok && strings.HasPrefix(word, "+") && word != right {
					t.Errorf("without %s: %s is named, too: %+v", right, word, f)
				}
			}
		}
		if slices.Contains([]string{"+hdel", "+hget", "+hset"}, right) &&
			!strings.Contains(found[i].Message, "--once") {
			t.Errorf("without %s: nothing is said of slots: %+v", right, found[i])
		}
		var words []any
		for _, word := range strings.Fields(found[i].Remedy) {
			words = append(words, word)
		}
		do(t, s, words...)
		if mended := bare(t, s); doctor.Status(mended) != 0 {
			t.Errorf("%s does not mend it: %+v", found[i].Remedy, mended)
		}
	}
	if keys := do(t, s, "KEYS", "*").([]any); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
}

func TestRightsAreForThePrefixThatIsInUse(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	permit(t, s, jobs()...)
	cfg := at(strings.Replace(s.URL(), "://", "://jobs:pw@", 1))
	cfg.Prefix = "team:"
	f := wants(t, examine(t, cfg), "rights", doctor.Fail, "~team:*")
	if !strings.HasPrefix(f.Remedy, "ACL SETUSER jobs ~team:*") {
		t.Errorf("the remedy is %q", f.Remedy)
	}
}

func TestOneWhoOnlyReadsIsToldWhatRunsNeed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	permit(t, s, strings.Fields(lock.ReaderACL)...)
	found := examine(t, at(strings.Replace(s.URL(), "://", "://jobs:pw@", 1)))
	wants(t, found, "rights", doctor.Fail, "+del +pexpire +set: no job runs (69)")
}

func TestWaitIsWantedForReplicasAlone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	permit(t, s, jobs()...)
	cfg := at(strings.Replace(s.URL(), "://", "://jobs:pw@", 1))
	wants(t, examine(t, cfg), "replicas", doctor.Ok, "only --replicas needs it")
	cfg.Replicas = 1
	f := wants(t, examine(t, cfg), "replicas", doctor.Fail, "--replicas needs WAIT")
	if f.Remedy != "ACL SETUSER jobs +wait" {
		t.Errorf("the remedy is %q", f.Remedy)
	}
}

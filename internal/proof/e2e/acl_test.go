//go:build linux

package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/lock"
)

// under runs everything that redlockrun does in Redis but wait, as a user with
// these rights, and reports what went wrong first.
func under(t *testing.T, s *site, rights []string) (wrong string) {
	t.Helper()
	words := []any{"ACL", "SETUSER", "jobs", "reset"}
	for _, right := range rights {
		words = append(words, right)
	}
	for _, command := range [][]any{{"FLUSHALL"}, words} {
		if _, err := s.server.Do(command...); err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
	for _, step := range []struct {
		want run
		argv []string
	}{
		{run{stdout: "ran\n"}, []string{"--key", "a", "--", "echo", "ran"}},
		{run{}, []string{"--key", "a", "--min-hold", "100", "--", "true"}},
		{run{}, []string{"--key", "a", "-E", "0", "--", "true"}},                                  // busy
		{run{}, []string{"--key", "b", "--ttl", "3", "--renew-every", "0.2", "--", "sleep", "1"}}, // renewed
	} {
		if r := s.run(append([]string{"redlockrun"}, step.argv...)...); r != step.want {
			return strings.Join(step.argv, " ") + ": " + r.String()
		}
	}
	return ""
}

// rights is what the example NAME lets the user do.
func rights(t *testing.T, name, user string) []string {
	t.Helper()
	words := strings.Fields(block(t, name))
	want := []string{"ACL", "SETUSER", user, "on", ">password", "resetkeys", "resetchannels", "-@all"}
	if !slices.Equal(words[:len(want)], want) {
		t.Fatalf("%q", words)
	}
	return words[3:]
}

// asUser lets the site's runs be those of a user with the password of the examples.
func (s *site) asUser(name string) {
	u := url.URL{Scheme: "redis", User: url.UserPassword(name, "password"), Host: s.server.Addr()}
	s.env = append(s.env, "REDLOCKRUN_REDIS="+u.String())
}

func TestReadmeACLSufficesAndEachRightIsNeeded(t *testing.T) {
	all := rights(t, "acl", "jobs")
	const head = 5 // on, the password, and what is taken away
	minimal := strings.Fields(lock.MinimalACL)
	s := newSite(t)
	s.asUser("jobs")
	if wrong := under(t, s, all); wrong != "" {
		t.Fatalf("with all of %q: %s", all, wrong)
	}
	for _, status := range []int{1, 0, 0} {
		if r := s.run("redlockrun", "--key", "c", "--once", "tick", "--", "sh", "-c",
			fmt.Sprintf("exit %d", status)); r.status != status {
			t.Error(r)
		}
	}
	if log, err := s.server.Do("ACL", "LOG"); err != nil || len(log.([]any)) > 0 {
		t.Errorf("refused: %v %v", log, err)
	}
	alone := slices.Concat(all[:head], minimal)
	if wrong := under(t, s, alone); wrong != "" { // what the other rights are for is tested where that is
		t.Fatalf("with %q: %s", alone, wrong)
	}
	for i, right := range minimal {
		if under(t, s, slices.Delete(slices.Clone(alone), head+i, head+i+1)) == "" {
			t.Errorf("%s is not needed", right)
		}
	}
}

// What needs which right is what the program says, and the user of jobs has those of the first four.
func TestReadmeSaysWhatNeedsWhichRight(t *testing.T) {
	said := strings.Split(strings.TrimSpace(block(t, "rights")), "\n")
	needs := []string{lock.MinimalACL, lock.WaitingACL, lock.SlotsACL, lock.LedgerACL, lock.OutputACL, lock.ReplicasACL,
		lock.QuorumACL,
		lock.ClusterACL}
	for i, line := range said {
		if _, rights, _ := strings.Cut(line, "  "); i >= len(needs) || strings.TrimSpace(rights) != needs[i] {
			t.Errorf("%q, not %q", line, needs[min(i, len(needs)-1)])
		}
	}
	var want []string
	for _, right := range strings.Fields(strings.Join(needs[:4], " ")) {
		if !slices.Contains(want, right) {
			want = append(want, right)
		}
	}
	if got := rights(t, "acl", "jobs")[5:]; len(said) != len(needs) || !slices.Equal(got, want) {
		t.Errorf("the user has %q\nneeds %q", got, want)
	}
}

func TestReadmeReadersSeeAndChangeNothing(t *testing.T) {
	all := rights(t, "readeracl", "readers")
	if !slices.Equal(all[5:], strings.Fields(lock.ReaderACL)) {
		t.Errorf("%q", all)
	}
	s := newSite(t)
	if r := s.run("redlockrun", "--key", "a", "--", "true"); r != (run{}) {
		t.Fatal(r)
	}
	words := []any{"ACL", "SETUSER", "readers"}
	for _, right := range all {
		words = append(words, right)
	}
	if _, err := s.server.Do(words...); err != nil {
		t.Fatal(err)
	}
	s.asUser("readers")
	for _, argv := range [][]string{{"status"}, {"status", "a"}, {"history", "a"}} {
		if r := s.run(append([]string{"redlockrun"}, argv...)...); r.status != 0 || !strings.Contains(r.stdout, "ok") ||
			r.stderr != "" {
			t.Errorf("%q: %v", argv, r)
		}
	}
	if r := s.run("redlockrun", "--key", "a", "--", "echo", "ran"); r.status != 69 || r.stdout != "" {
		t.Errorf("a reader ran a job: %v", r)
	}
}

func TestReadmeOperatorsHaveTheirOwnRights(t *testing.T) {
	if all := rights(t, "operatoracl", "operators"); !slices.Equal(all[5:], strings.Fields(lock.OperatorACL)) {
		t.Errorf("%q", all)
	}
}

// Jobs of a user with the rights of an older page run as they did, but for those that have a slot.
func TestReadmeUsersFromBeforeRunJobs(t *testing.T) {
	minimal, waiting := strings.Fields(lock.MinimalACL), strings.Fields(lock.WaitingACL)
	for right, before := range map[string][]string{"+hget": minimal, "+hlen": slices.Concat(minimal, waiting)} {
		s := newSite(t)
		s.asUser("jobs")
		if wrong := under(t, s, slices.Concat(rights(t, "acl", "jobs")[:5], before)); wrong != "" {
			t.Errorf("%q: %s", before, wrong)
		}
		if n, err := s.server.Do("EXISTS", "redlockrun:{a}:job", "redlockrun:{a}:runs",
			"redlockrun:jobs"); err != nil || n != int64(0) {
			t.Errorf("%q: the ledger was written: %v %v", before, n, err)
		}
		r := s.run("redlockrun", "--key", "c", "--once", "tick", "--", "echo", "ran")
		if r.status != 69 || r.stdout != "" ||
			!strings.Contains(r.stderr, "a slot (--once-per, --once) need") || !strings.Contains(r.stderr, right) {
			t.Errorf("%q: %v", before, r)
		}
		if n, err := s.server.Do("EXISTS", "redlockrun:{c}", "redlockrun:{c}:slots"); err != nil || n != int64(0) {
			t.Errorf("%q: the run that was refused left something: %v %v", before, n, err)
		}
	}
}

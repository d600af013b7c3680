//go:build linux

package e2e

import (
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
		{run{}, []string{"--key", "a", "-E", "0", "--", "true"}},            // busy
		{run{}, []string{"--key", "b", "--ttl", "1", "--", "sleep", "0.7"}}, // renewed
	} {
		if r := s.run(append([]string{"redlockrun"}, step.argv...)...); r != step.want {
			return strings.Join(step.argv, " ") + ": " + r.String()
		}
	}
	return ""
}

func TestReadmeACLSufficesAndEachRightIsNeeded(t *testing.T) {
	words := strings.Fields(block(t, "acl"))
	rights := words[3:]
	minimal, waiting := strings.Fields(lock.MinimalACL), strings.Fields(lock.WaitingACL)
	if !slices.Equal(words[:3], []string{"ACL", "SETUSER", "jobs"}) || !slices.Equal(rights[5:], slices.Concat(minimal, waiting)) {
		t.Fatalf("%q", words)
	}
	s := newSite(t)
	u := url.URL{Scheme: "redis", User: url.UserPassword("jobs", "password"), Host: s.server.Addr()}
	s.env = append(s.env, "REDLOCKRUN_REDIS="+u.String())
	if wrong := under(t, s, rights); wrong != "" {
		t.Fatalf("with all of %q: %s", rights, wrong)
	}
	rights = rights[:5+len(minimal)] // what waiting needs is tested where waiting is
	if wrong := under(t, s, rights); wrong != "" {
		t.Fatalf("with %q: %s", rights, wrong)
	}
	for i, right := range minimal {
		if under(t, s, slices.Delete(slices.Clone(rights), 5+i, 6+i)) == "" {
			t.Errorf("%s is not needed", right)
		}
	}
}

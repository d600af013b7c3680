//go:build linux

package e2e

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// under runs everything that redlockrun does in Redis, as a user with these
// rights, and reports what went wrong first.
func under(t *testing.T, s *site, rights []string) (wrong string) {
	t.Helper()
	for _, words := range [][]any{{"FLUSHALL"}, {"LPUSH", "redlockrun:{list}", "x"}} {
		if _, err := s.server.Do(words...); err != nil {
			t.Fatal(err)
		}
	}
	words := []any{"ACL", "SETUSER", "jobs", "reset"}
	for _, right := range rights {
		words = append(words, right)
	}
	if _, err := s.server.Do(words...); err != nil {
		t.Fatalf("%v: %v", words, err)
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
	if r := s.run("redlockrun", "--key", "list", "--", "true"); r.status != 65 {
		return "a key that is no lock: " + r.String()
	}
	return ""
}

func TestReadmeACLSufficesAndEachRightIsNeeded(t *testing.T) {
	words := strings.Fields(block(t, "acl"))
	if !slices.Equal(words[:3], []string{"ACL", "SETUSER", "jobs"}) {
		t.Fatalf("%q", words)
	}
	rights := words[3:]
	s := newSite(t)
	u := url.URL{Scheme: "redis", User: url.UserPassword("jobs", "password"), Host: s.server.Addr()}
	s.env = append(s.env, "REDLOCKRUN_REDIS="+u.String())
	if wrong := under(t, s, rights); wrong != "" {
		t.Fatalf("with all of %q: %s", rights, wrong)
	}
	for i, right := range rights {
		if !strings.HasPrefix(right, "+") && !strings.HasPrefix(right, "~") && !strings.HasPrefix(right, "&") {
			continue
		}
		if under(t, s, slices.Delete(slices.Clone(rights), i, i+1)) == "" {
			t.Errorf("%s is not needed", right)
		}
	}
}

package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/lock"
)

// refusalHint returns "" if no server has refused the request, and where no special hint fits.
func refusalHint(err error) string {
	var r *lock.Refusal
	if !errors.As(err, &r) {
		return ""
	}
	needs := needsOf(r.Command)
	verb := "need"
	if len(needs) == 1 {
		verb = "needs"
	}
	switch {
	case len(needs) == 0:
		return r.Hint()
	case r.Code == lock.NOCOMMAND:
		return fmt.Sprintf("%s %s it: use a server that supports it", strings.Join(needs, " and "), verb)
	}
	return fmt.Sprintf("%s %s the right +%s; README: the minimal ACL",
		strings.Join(needs, " and "), verb, strings.ToLower(r.Command))
}

// needsOf returns what needs a command: every run, or some features; none for a foreign command.
func needsOf(command string) (needs []string) {
	for _, need := range []struct{ rights, what string }{
		{lock.MinimalACL, everyRun},
		{lock.WaitingACL, "--wait"},
		{lock.SlotsACL, "a slot (--once-per, --once)"},
		{lock.ReplicasACL, "--replicas"},
		{lock.QuorumACL, "a quorum without --durable"},
		{lock.ClusterACL, "a Cluster that moves the lock's slot"},
		{"+select", "a database other than 0"},
		{"+auth +hello", "a password"},
		{"+sentinel", "redis+sentinel://"},
	} {
		if !slices.Contains(strings.Fields(need.rights), "+"+strings.ToLower(command)) {
			continue
		}
		needs = append(needs, need.what)
		if need.what == everyRun {
			break
		}
	}
	return needs
}

const everyRun = "every run"

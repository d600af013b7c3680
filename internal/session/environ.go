package session

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/permits"
)

// variables returns what the environment tells the command about its lock, at its n-th start.
func (s *session) variables(run string, lease lock.Lease, n int) [][2]string {
	fence, permit := strconv.FormatInt(lease.Fence(), 10), ""
	if p, ok := lease.(permits.Lease); ok {
		permit = numbers(p.Permits())
	}
	if lease.Fence() == 0 {
		fence = ""
	}
	return [][2]string{
		{config.HeldKeyVar, s.config.Key},
		{config.RunIDVar, run},
		{config.HeldRunsVar, strings.Join(append(s.config.Enclosing, run), " ")},
		{config.PIDVar, strconv.Itoa(os.Getpid())},
		{config.FenceVar, fence},
		{config.PermitVar, permit},
		{config.AttemptVar, strconv.Itoa(n)},
		{config.SlotVar, s.config.Slot.Name},
	}
}

// numbers are the numbers with a blank between two.
func numbers(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " ")
}

// withVariables returns environ with the variables of set, which replace those of the same name.
// An empty variable does not apply, and is removed.
func withVariables(environ []string, set [][2]string) []string {
	out := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(set, func(v [2]string) bool { return v[0] == name })
	})
	for _, v := range set {
		if v[1] != "" {
			out = append(out, v[0]+"="+v[1])
		}
	}
	return out
}

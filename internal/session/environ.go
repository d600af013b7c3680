package session

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
)

// variables returns what the environment tells the command about its lock, at its n-th start.
func (s *session) variables(run string, lease lock.Lease, n int) [][2]string {
	return [][2]string{
		{config.HeldKeyVar, s.config.Key},
		{config.RunIDVar, run},
		{config.HeldRunsVar, strings.Join(append(s.config.Enclosing, run), " ")},
		{config.PIDVar, strconv.Itoa(os.Getpid())},
		{config.FenceVar, strconv.FormatInt(lease.Fence(), 10)},
		{config.AttemptVar, strconv.Itoa(n)},
		{config.SlotVar, s.config.Slot.Name},
	}
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

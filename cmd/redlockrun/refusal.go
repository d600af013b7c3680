package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlockrun/internal/lock"
)

// refusalHints are what to do about a server that does not do what it is asked
// for, by the word that Redis has for its reason.
var refusalHints = map[string]string{
	"READONLY":    "this is a replica: name its master, or the sentinels that know it (redis+sentinel://)",
	"MASTERDOWN":  "this is a replica that has lost its master: name the master, or the sentinels that know it (redis+sentinel://)",
	"CLUSTERDOWN": "no node of the Cluster serves the lock's slot: see redis-cli cluster info",
	"LOADING":     "the server is still loading its data: try again later, or ask longer with --redis-timeout D",
	"OOM":         "the server's memory is full: free some, or raise maxmemory",
	"MISCONF":     "the server cannot write its disk: its log says why",
	"NOREPLICAS":  "fewer replicas follow the server than its min-replicas-to-write wants: look after them",
	"BUSY":        "a script blocks the server: redis-cli script kill ends it",
	"MAXCLIENTS":  "the server has as many connections as it may have: find who keeps them, or raise maxclients",
	"TRYAGAIN":    "the lock's slot is on its way to another node: try again when it is there",
	"DENIED":      "the server's protected mode serves its own host alone: give it a password, or turn that off",
	"NODB":        "the server has fewer databases than that: name another, or raise databases in its configuration",
}

// refusalHint is empty if no server has refused anything, and where no other hint
// than for any failure fits.
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
		return refusalHints[r.Code]
	case r.Code == lock.NOCOMMAND:
		return fmt.Sprintf("%s %s it: use a server that has it", strings.Join(needs, " and "), verb)
	}
	return fmt.Sprintf("%s %s the right +%s; README: the minimal ACL", strings.Join(needs, " and "), verb, strings.ToLower(r.Command))
}

// needsOf are what needs a command: every run, or some; none if it is none of ours.
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

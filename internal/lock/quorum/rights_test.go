package quorum

import (
	"errors"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// What a run will need is missed before anything is written, and before its command is started.
func TestEachRightThatARunNeedsIsMissedBeforeItHasTheLock(t *testing.T) {
	t.Parallel()
	all := startServers(t, 3, redistest.Options{})
	store := all.open(t)
	for _, right := range strings.Fields(lock.MinimalACL + " " + lock.QuorumACL) {
		command, isCommand := strings.CutPrefix(right, "+")
		if !isCommand || command == "zrange" { // which is the line's
			continue
		}
		for _, s := range all {
			locktest.Do(t, s, "ACL", "SETUSER", "default", "+@all", "-"+command)
		}
		_, err := store.Acquire(t.Context(), locktest.RequestFor("job"))
		var refusal *lock.Refusal
		if !errors.As(err, &refusal) || refusal.Command != strings.ToUpper(command) {
			t.Errorf("without %s: %v", command, err)
		}
		for i, s := range all {
			locktest.Do(t, s, "ACL", "SETUSER", "default", "+@all")
			for _, key := range locktest.Do(t, s, "KEYS", "*").([]any) {
				if !strings.Contains(key.(string), ":gone:") { // of a request that was given up
					t.Errorf("without %s server %d has %s", command, i, key)
				}
			}
		}
	}
}

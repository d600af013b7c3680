package line_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// permit gives the user jobs of each server these rights and no others.
func permit(t *testing.T, servers []*redistest.Server, rights ...string) {
	t.Helper()
	words := []any{"ACL", "SETUSER", "jobs", "reset", "on", ">pw", "-@all"}
	for _, right := range rights {
		words = append(words, right)
	}
	for _, s := range servers {
		locktest.Do(t, s, words...)
	}
}

// works runs a job and a waiter, and returns what the first failed for.
func works(t *testing.T, p place) error {
	t.Helper()
	s := p.open(t)
	l, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
	if err != nil {
		return err
	}
	waiting, _ := park(t, p.at("job"), s, waits("job", locktest.Patience), 1)
	locktest.Renew(t, l)
	release(t, l)
	release(t, lease(t, waiting))
	return nil
}

func isDenied(err error) bool {
	var unavailable *lock.UnavailableError
	return errors.As(err, &unavailable) && unavailable.Denied
}

func TestTheRightsOfAJobSufficeInACluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, redistest.ClusterOptions{})
	p := clusterPlace(c)
	p.cfg.URLs[0] = strings.Replace(p.cfg.URLs[0], "://", "://jobs:pw@", 1)
	permit(t, c.Masters, strings.Fields(lock.MinimalACL+" "+lock.WaitingACL)...)
	if err := works(t, p); err != nil {
		t.Error(err)
	}
}

func TestTheRightsOfAJobAndOfItsSentinelsSufficeAndAreNeeded(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	p := sentinelPlace(s)
	p.cfg.URLs[0] = strings.Replace(p.cfg.URLs[0], "://", "://jobs:pw@", 1) +
		"?sentinel_username=jobs&sentinel_password=pw"
	p.cfg.Replicas, p.cfg.ReplicasTimeout = 1, locktest.Patience
	master, rights := s.Data[:1], strings.Fields(lock.MinimalACL+" "+lock.WaitingACL+" "+lock.ReplicasACL)
	permit(t, master, rights...)
	for _, epoch := range []string{lock.SentinelEpochACL, "-@all"} {
		permit(t, s.Sentinels, epoch, lock.SentinelACL)
		if err := works(t, p); err != nil {
			t.Errorf("%s: %v", epoch, err)
		}
	}
	permit(t, master, slices.DeleteFunc(rights, func(r string) bool { return r == lock.ReplicasACL })...)
	if err := works(t, p); !isDenied(err) {
		t.Errorf("without %s: %v", lock.ReplicasACL, err)
	}
	permit(t, s.Sentinels, lock.SentinelEpochACL)
	if err := works(t, p); !isDenied(err) {
		t.Errorf("without %s: %v", lock.SentinelACL, err)
	}
}

// What a run will need is missed before anything is written, and before its command is started.
func TestEachRightThatARunNeedsIsMissedBeforeItHasTheLock(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	s := open(t, strings.Replace(srv.URL(), "://", "://jobs:pw@", 1))
	for _, right := range redistest.Rules(strings.Fields(lock.MinimalACL)) {
		command, isCommand := strings.CutPrefix(right, "+")
		if !isCommand {
			continue
		}
		permit(t, []*redistest.Server{srv}, strings.Fields(lock.MinimalACL+" "+lock.WaitingACL+" -"+command)...)
		_, err := s.Acquire(t.Context(), waits("job", locktest.Patience))
		wantLack(t, command, err)
		if keys := locktest.Do(t, srv, "KEYS", "*").([]any); len(keys) > 0 {
			t.Errorf("without %s it has left %v", command, keys)
		}
	}
}

// Whoever waits, and could not give the lock back, is told before it has it.
func TestAWaiterThatMayNotDeleteIsToldAtOnce(t *testing.T) {
	t.Parallel()
	srv, _, held := holding(t)
	s := open(t, strings.Replace(srv.URL(), "://", "://jobs:pw@", 1))
	permit(t, []*redistest.Server{srv}, strings.Fields(lock.MinimalACL+" "+lock.WaitingACL+" -del")...)
	for _, limit := range []time.Duration{0, lock.Forever} {
		_, err := s.Acquire(t.Context(), waits("job", limit))
		wantLack(t, "del", err)
	}
	release(t, held)
	onlyFence(t, srv)
}

func wantLack(t *testing.T, command string, err error) {
	t.Helper()
	var refusal *lock.Refusal
	if !isDenied(err) || !errors.As(err, &refusal) || refusal.Command != strings.ToUpper(command) {
		t.Errorf("without %s: %v", command, err)
	}
}

package inspect_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/inspect"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// permitted reads a server as a user with these rights and no others.
func permitted(t *testing.T, srv *redistest.Server, rights ...string) *inspect.Server {
	t.Helper()
	words := []any{"ACL", "SETUSER", "reader", "reset", "on", ">pw", "-@all"}
	for _, right := range rights {
		words = append(words, right)
	}
	do(t, srv, words...)
	do(t, srv, "ACL", "LOG", "RESET")
	return inspecting(t, strings.Replace(srv.URL(), "://", "://reader:pw@", 1))
}

func refusals(t *testing.T, srv *redistest.Server) int {
	t.Helper()
	return len(locktest.Do(t, srv, "ACL", "LOG").([]any))
}

func TestTheRightsOfAReaderSuffice(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	fill(t, srv, "job")
	s := permitted(t, srv, strings.Fields(lock.ReaderACL+" "+lock.ScanACL)...)
	unread(t, job(t, s, "job"))
	names, err := s.Names(t.Context(), true)
	locktest.Must(t, err)
	runs, err := s.Runs(t.Context(), "job", true)
	if locktest.Must(t, err); len(names) != 1 || len(runs) != 3 || refusals(t, srv) > 0 {
		t.Errorf("%q, %d runs, %d refusals", names, len(runs), refusals(t, srv))
	}
}

// Who lacks a right is told which, and sees the rest.
func TestEachRightOfAReaderIsNeededForWhatItIsSaidToBe(t *testing.T) {
	t.Parallel()
	lost := map[string][]string{
		"GETRANGE": {"the lock: ", "the pause: "}, "PTTL": {"the lock: "}, "TIME": {"the time: "},
		"ZCARD": {"the queue: "}, "ZRANGE": {"the queue: "}, "HMGET": {"the ledger: ", "the waiters: "},
		"HLEN": {"the slots: "}, "HGETALL": {"the slots: "}, "LRANGE": {"the runs: "}, "ZSCAN": nil,
	}
	rights := strings.Fields(lock.ReaderACL)
	if len(rights) != len(lost)+2 {
		t.Errorf("%d rights, and what is lost without %d", len(rights), len(lost))
	}
	srv := redistest.Start(t, redistest.Options{})
	fill(t, srv, "job")
	for command, what := range lost {
		s := permitted(t, srv, slices.DeleteFunc(slices.Clone(rights),
			func(r string) bool { return r == "+"+strings.ToLower(command) })...)
		for i := range what {
			what[i] += "the user may not use " + command
		}
		j := job(t, s, "job")
		unread(t, j, what...)
		if known := !slices.Contains([]string{"GETRANGE", "PTTL"}, command); known != (j.State == lock.StateRunning) {
			t.Errorf("without %s: %q", command, j.State)
		}
		if n := refusals(t, srv); n != min(1, len(what)) {
			t.Errorf("without %s: %d refusals are logged", command, n)
		}
		if _, err := s.Names(t.Context(), false); (err != nil) != (command == "ZSCAN") {
			t.Errorf("without %s: %v", command, err)
		}
	}
}

func TestWhoMayOnlyRunJobsIsToldWhatItLacks(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	fill(t, srv, "job")
	s := permitted(t, srv, strings.Fields(lock.MinimalACL)...)
	j := job(t, s, "job")
	unread(t, j, "the queue: the user may not use ZCARD", "the slots: the user may not use HLEN",
		"the ledger: the user may not use HMGET", "the runs: the user may not use LRANGE")
	if j.State != lock.StateRunning || j.Holder.Run != runA {
		t.Errorf("%+v", j)
	}
	for what, ask := range map[string]func() error{
		"ZSCAN":  func() error { _, err := s.Names(t.Context(), false); return err },
		"LRANGE": func() error { _, err := s.Runs(t.Context(), "job", false); return err },
	} {
		var unavailable *lock.UnavailableError
		var refusal *lock.Refusal
		if err := ask(); !errors.As(err, &unavailable) || !unavailable.Denied || !errors.As(err, &refusal) ||
			refusal.Command != what {
			t.Errorf("without %s: %v", what, err)
		}
	}
}

func TestWithoutEvalNothingIsRead(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	s := permitted(t, srv, "~redlockrun:*", "+getrange")
	_, err := s.Job(t.Context(), "job")
	if e := locktest.MustBeUnavailable(t, err); !e.Denied || !strings.Contains(strings.ToUpper(e.Error()), "EVAL") {
		t.Errorf("%v", err)
	}
}

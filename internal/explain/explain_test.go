package explain

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/runner"
	"redlockrun/internal/watchdog"
)

func somePlan() About {
	return About{Config: config.Config{
		Key: "job", Conflict: StatusBusy, MaxRuntime: 90 * time.Second,
		Address: config.Address{From: "--redis"},
	}, Place: "db:6379"}
}

func TestEveryErrorHasItsStatusAndItsHint(t *testing.T) {
	down := func(cause error) error { return &lock.UnavailableError{Address: "db:6379", Err: cause} }
	lost := func(cause error) error {
		return &runner.StopError{Reason: &watchdog.LostError{Err: cause}}
	}
	holder := lock.Holder{Run: strings.Repeat("0", 26), Host: "web-3", PID: 4121, User: "alice", Command: "php",
		Start: time.Unix(0, 0)}
	for _, c := range []struct {
		err    error
		status int
		says   []string
	}{
		{config.Usagef("wrong").Hint("right"), 64, []string{"wrong", "right"}},
		{config.Usagef("read the file: %w", syscall.ENOENT).Hint("leave it out"), 64,
			[]string{"read the file: no such", "leave it out"}},
		{config.Usagef("read the file: %w", syscall.EMFILE).Hint("leave it out"), 71,
			[]string{"read the file: too many", "ulimit"}},
		{&lock.ConfigError{Subject: "URL", Problem: "it is odd", Hint: "make it even"}, 64, []string{
			"cannot use URL: it is odd (from --redis)", "make it even"}},
		{&lock.NestedError{Name: "job", Holder: holder}, 64, []string{"an outer redlockrun", "would never end"}},
		{&lock.NotLockError{Key: "k", What: "a list"}, 65, []string{`key "k" is a list, not a lock`,
			"did not touch it"}},
		{&lock.SlotDoneError{Name: "job", Slot: "tick",
			By: lock.Try{Run: "r", Host: "web-3", Ended: time.Unix(0, 0)}}, 0, []string{
			`slot "tick" of "job" is already done, by web-3 at ` + lock.LocalTime(time.UnixMilli(0)) + ` (db:6379`,
			"without --once it runs now"}},
		{&lock.SlotDoneError{Name: "job", Slot: "tick"}, 0, []string{`slot "tick" of "job" is already done (db:6379`}},
		{&lock.TriesExhaustedError{Name: "job", Slot: "tick", Tries: 2, Failures: []lock.Try{
			{Host: "web-1", End: lock.EndFailed, Status: 3, Ended: time.Unix(0, 0)},
			{Host: "web-2", End: lock.EndVanished, Status: -1},
		}}, 75, []string{
			"2 have failed: web-1 (failed, status 3) at " + lock.LocalTime(time.UnixMilli(0)) +
				", web-2 (vanished) (db:6379", "--tries N"}},
		{&lock.HeldError{Name: "job", TTL: -1, Pause: &lock.PauseMark{By: "alice@desk\n", Reason: "deploy"}}, 75,
			[]string{
				`job "job" is paused by alice@desk\n for ever: deploy (db:6379`, "redlockrun resume job ends",
				"--ignore-pause"}},
		{&lock.HeldError{Name: "it's", TTL: time.Hour, Pause: &lock.PauseMark{By: "a@b", Until: time.Unix(1e9, 0)}},
			75, []string{
				`job "it's" is paused by a@b until 2001-09-`, `redlockrun resume 'it'\''s' ends`}},
		{&lock.HeldError{Name: "-x", Pause: &lock.PauseMark{By: "a@b"}}, 75, []string{"redlockrun resume -- -x ends"}},
		{&lock.StoppedError{Name: "job"}, 143, []string{
			`an operator stopped the run of "job" (db:6379`, "; nothing was run", "redlockrun status job shows who"}},
		{&NotRestartedError{Reason: &runner.StopError{Reason: &lock.StoppedError{Name: "job"}}}, 143,
			[]string{"; the command was not started again"}},
		{&lock.NewerError{Name: "job", Protocol: 2}, 65,
			[]string{`lock "job" belongs to a newer redlockrun (protocol 2): upgrade`}},
		{down(syscall.ECONNREFUSED), 69,
			[]string{"db:6379 (from --redis)", "connection refused", "that Redis is running"}},
		{down(context.DeadlineExceeded), 69, []string{"firewall", "--redis-timeout"}},
		{down(&net.DNSError{Name: "db"}), 69, []string{"check the host name"}},
		{down(x509.UnknownAuthorityError{}), 69, []string{"--redis-ca"}},
		{down(x509.HostnameError{Certificate: new(x509.Certificate)}), 69, []string{"check the server's certificate"}},
		{down(syscall.EACCES), 69, []string{"permissions of the socket"}},
		{down(errors.New("odd")), 69, []string{"check the address"}},
		{&lock.UnavailableError{Address: "db:6379", Err: errors.New("NOPERM"), Denied: true}, 69,
			[]string{"check the user, the password"}},
		{&lock.HeldError{Name: "job", Holder: holder, TTL: time.Minute}, 75, []string{
			`lock "job" is held by web-3:4121 (alice, php) since ` + lock.LocalTime(time.UnixMilli(0)) +
				`, 1m left (db:6379, from --redis)`,
			"-E 0 makes this a success; --wait D waits"}},
		{&lock.HeldError{Name: "job", Key: "p:{job}", Holder: lock.Holder{Foreign: "x"}, TTL: -1}, 75, []string{
			"for ever", `"p:{job}" has no TTL`, "-E 0"}},
		{&lock.HeldError{Name: "job", Full: true}, 75, []string{"limit of waiters"}},
		{lost(lock.ErrTaken), 76, []string{`another run took lock "job"`, "the command was stopped"}},
		{lost(lock.ErrLost), 76, []string{`lock "job" is gone`, "evicts", "flushed", "restarts"}},
		{lost(down(syscall.ECONNREFUSED)), 76, []string{
			"could not be renewed in time: connection refused (db:6379, from --redis)", "longer --ttl"}},
		{lost(&lock.NotLockError{Key: "k", What: "a list"}), 76, []string{"could not be renewed"}},
		{lost(watchdog.ErrLate), 76, []string{"could not be renewed"}},
		{&runner.NotStartedError{Reason: lost(lock.ErrTaken)}, 76,
			[]string{"another run took lock", "; nothing was run"}},
		{&runner.StopError{Reason: runner.ErrMaxRuntime}, 124, []string{"--max-runtime 1m30s"}},
		{&runner.NotStartedError{Reason: runner.ErrMaxRuntime}, 124,
			[]string{"--max-runtime 1m30s", "nothing was run"}},
		{&runner.StartError{Name: "x", Code: 127, Err: errors.New("not found")}, 127,
			[]string{"run x: not found", "PATH"}},
		{&runner.StartError{Name: "x", Code: 126, Err: errors.New("permission denied")}, 126,
			[]string{"run x: permission denied"}},
		{&runner.StartError{Name: "x", Code: 71, Err: errors.New("no memory")}, 71,
			[]string{"run x: no memory", "ulimit"}},
		{&runner.SignalError{Signal: syscall.SIGTERM}, 143, []string{"nothing was run"}},
		{&runner.StopError{Reason: errors.New("keep lock: panic")}, 71, []string{"panic"}},
		{fmt.Errorf("start guard: %w", syscall.EMFILE), 71, []string{"start guard: too many open files", "ulimit"}},
	} {
		o := Of(fmt.Errorf("wrapped: %w", c.err), somePlan())
		said := o.Message + "\n" + strings.Join(o.Hints, "\n")
		if o.Status != c.status {
			t.Errorf("%v: status %d, want %d", c.err, o.Status, c.status)
		}
		for _, part := range c.says {
			if !strings.Contains(said, part) {
				t.Errorf("%v: %q does not say %q", c.err, said, part)
			}
		}
		if strings.Contains(o.Message, "\n") {
			t.Errorf("%v: more than one line: %q", c.err, o.Message)
		}
	}
}

func TestALocalLockErrorDoesNotMentionRedis(t *testing.T) {
	c := somePlan()
	c.Config.Address.Local = true
	o := Of(&lock.UnavailableError{Address: "/run/lock", Err: syscall.ENOSPC}, c)
	said := o.Message + strings.Join(o.Hints, "")
	if o.Status != 69 || strings.Contains(said, "Redis") ||
		!strings.Contains(said, "/run/lock (from --redis): no space") {
		t.Errorf("%+v", o)
	}
}

func TestNoErrorHasNoMessage(t *testing.T) {
	if o := Of(nil, somePlan()); o.Status != 0 || o.Message != "" {
		t.Errorf("%+v", o)
	}
}

func TestAChosenConflictStatusAppliesToConflictsOnly(t *testing.T) {
	c := somePlan()
	c.Config.Conflict = 0
	if o := Of(&lock.HeldError{Name: "job"}, c); o.Status != 0 || o.level != console.Info || o.Hints != nil {
		t.Errorf("conflict: %+v", o)
	}
	if o := Of(&lock.UnavailableError{Err: errors.New("down")}, c); o.Status != 69 || o.level != console.Error {
		t.Errorf("outage: %+v", o)
	}
	c.Config.Conflict = 99
	if o := Of(&lock.HeldError{Name: "job"}, c); o.Status != 99 || o.level != console.Error {
		t.Errorf("conflict with -E 99: %+v", o)
	}
}

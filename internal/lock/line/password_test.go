package line_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func TestAPasswordInAFileIsRotatedUnderARunningJob(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Users: []string{"alice on >old resetchannels " + lock.MinimalACL}})
	file := filepath.Join(t.TempDir(), "password")
	replace(t, file, "old\n")
	cfg := lock.Servers{URLs: []string{"redis://alice@" + s.Addr()}, PasswordFile: file}
	l := locktest.Acquire(t, place{cfg: cfg}.open(t), locktest.RequestFor("job"))
	locktest.Do(t, s, "ACL", "SETUSER", "alice", "<old", ">new")
	locktest.Do(t, s, "CLIENT", "KILL", "USER", "alice")
	for range 2 { // the file comes later than the server
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err == nil || errors.Is(err, lock.ErrLost) {
			t.Fatal(err)
		}
	}
	replace(t, file, "new\n")
	locktest.Renew(t, l)
	release(t, l)
}

func TestBothPasswordsOfSentinelAreRotatedUnderARunningJob(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Data: redistest.Options{Password: "a"},
		SentinelPassword: "b"})
	dir := t.TempDir()
	cfg := lock.Servers{URLs: []string{"redis+sentinel://" + s.Sentinels[0].Addr() + "," + s.Sentinels[1].Addr() +
		"/mymaster"},
		PasswordFile: filepath.Join(dir, "master"), SentinelPasswordFile: filepath.Join(dir, "sentinels")}
	replace(t, cfg.PasswordFile, "a")
	replace(t, cfg.SentinelPasswordFile, "b")
	l := locktest.Acquire(t, place{cfg: cfg}.open(t), locktest.RequestFor("job"))
	for _, one := range s.Sentinels {
		locktest.Do(t, one, "ACL", "SETUSER", "default", ">B")
		locktest.Do(t, one, "ACL", "SETUSER", "default", "<b")
	}
	replace(t, cfg.SentinelPasswordFile, "B")
	locktest.Do(t, s.Data[0], "CLIENT", "KILL", "TYPE", "normal")
	locktest.Renew(t, l)
	release(t, l)
}

func TestAPasswordIsGivenOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, empty, two := filepath.Join(dir, "good"), filepath.Join(dir, "empty"), filepath.Join(dir, "two")
	replace(t, good, "p w\r\n")
	replace(t, empty, "\n")
	replace(t, two, "a\nb\n")
	for _, c := range []struct {
		url     string
		cfg     lock.Servers
		problem string // "": it is fine
	}{
		{"redis://h", lock.Servers{PasswordFile: good}, ""},
		{"redis://alice@h", lock.Servers{PasswordFile: good}, ""},
		{"redis://alice@h", lock.Servers{}, "a user without a password"},
		{"redis://alice:x@h", lock.Servers{PasswordFile: good}, "a password file is set too"},
		{"redis://h", lock.Servers{PasswordFile: empty}, "no password"},
		{"redis://h", lock.Servers{PasswordFile: two}, "no password"},
		{"redis://h", lock.Servers{PasswordFile: filepath.Join(dir, "none")}, "no such file"},
		{"redis://h", lock.Servers{SentinelPasswordFile: good}, "it names no sentinels"},
		{"redis+sentinel://h/m", lock.Servers{SentinelPasswordFile: good}, ""},
		{"redis+sentinel://:x@h/m?sentinel_username=u", lock.Servers{SentinelPasswordFile: good}, ""},
		{"redis+sentinel://:x@h/m?sentinel_username=u", lock.Servers{}, "without a sentinel_password"},
		{"redis+sentinel://h/m?sentinel_password=a%26b", lock.Servers{}, ""},
		{"redis+sentinel://h/m/3?sentinel_password=a&sentinel_password=b", lock.Servers{}, "parameter other than"},
		{"redis+sentinel://h/m?db=3&sentinel_username=u&sentinel_password=p", lock.Servers{}, ""},
		{"redis+sentinel://h/m?password=secret", lock.Servers{}, "parameter other than"},
		{"redis+sentinel://h", lock.Servers{}, "names no master"},
		{"redis+cluster://h?sentinel_password=secret", lock.Servers{}, "parameter other than"},
	} {
		c.cfg.URLs = []string{c.url}
		_, err := line.Open(c.cfg)
		var wrong *lock.ConfigError
		if c.problem == "" && err != nil || c.problem != "" &&
			(!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.problem)) {
			t.Errorf("%s: %v, want %q", c.url, err, c.problem)
		}
		if err != nil && strings.Contains(err.Error()+wrong.Hint, "secret") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

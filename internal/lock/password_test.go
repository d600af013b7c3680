package lock

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/redistest"
)

func TestL18APasswordInAFileIsRotatedUnderARunningJob(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Users: []string{"alice on >old resetchannels " + MinimalACL}})
	file := filepath.Join(t.TempDir(), "password")
	replace(t, file, "old\n")
	cfg := OpenConfig{URLs: []string{"redis://alice@" + s.Addr()}, PasswordFile: file}
	l := acquire(t, place{cfg: cfg}.open(t), requestFor("job"))
	do(t, s, "ACL", "SETUSER", "alice", "<old", ">new")
	do(t, s, "CLIENT", "KILL", "USER", "alice")
	for range 2 { // the file comes later than the server
		if _, err := l.Renew(limited(t, patience)); err == nil || errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
	}
	replace(t, file, "new\n")
	renew(t, l)
	release(t, l)
}

func TestL18BothPasswordsOfSentinelAreRotatedUnderARunningJob(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Data: redistest.Options{Password: "a"}, SentinelPassword: "b"})
	dir := t.TempDir()
	cfg := OpenConfig{URLs: []string{"redis+sentinel://" + s.Sentinels[0].Addr() + "," + s.Sentinels[1].Addr() + "/mymaster"},
		PasswordFile: filepath.Join(dir, "master"), SentinelPasswordFile: filepath.Join(dir, "sentinels")}
	replace(t, cfg.PasswordFile, "a")
	replace(t, cfg.SentinelPasswordFile, "b")
	l := acquire(t, place{cfg: cfg}.open(t), requestFor("job"))
	for _, one := range s.Sentinels {
		do(t, one, "ACL", "SETUSER", "default", ">B")
		do(t, one, "ACL", "SETUSER", "default", "<b")
	}
	replace(t, cfg.SentinelPasswordFile, "B")
	do(t, s.Data[0], "CLIENT", "KILL", "TYPE", "normal")
	renew(t, l)
	release(t, l)
}

func TestAPasswordIsGivenOnce(t *testing.T) {
	dir := t.TempDir()
	good, empty, two := filepath.Join(dir, "good"), filepath.Join(dir, "empty"), filepath.Join(dir, "two")
	replace(t, good, "p w\r\n")
	replace(t, empty, "\n")
	replace(t, two, "a\nb\n")
	for _, c := range []struct {
		url     string
		cfg     OpenConfig
		problem string // "": it is fine
	}{
		{"redis://h", OpenConfig{PasswordFile: good}, ""},
		{"redis://alice@h", OpenConfig{PasswordFile: good}, ""},
		{"redis://alice@h", OpenConfig{}, "a user without a password"},
		{"redis://alice:x@h", OpenConfig{PasswordFile: good}, "a password file is given too"},
		{"redis://h", OpenConfig{PasswordFile: empty}, "no password"},
		{"redis://h", OpenConfig{PasswordFile: two}, "no password"},
		{"redis://h", OpenConfig{PasswordFile: filepath.Join(dir, "none")}, "no such file"},
		{"redis://h", OpenConfig{SentinelPasswordFile: good}, "not one of sentinels"},
		{"redis+sentinel://h/m", OpenConfig{SentinelPasswordFile: good}, ""},
		{"redis+sentinel://:x@h/m?sentinel_username=u", OpenConfig{SentinelPasswordFile: good}, ""},
		{"redis+sentinel://:x@h/m?sentinel_username=u", OpenConfig{}, "without a sentinel_password"},
		{"redis+sentinel://h/m?sentinel_password=a%26b", OpenConfig{}, ""},
		{"redis+sentinel://h/m/3?sentinel_password=a&sentinel_password=b", OpenConfig{}, "parameter other than"},
		{"redis+sentinel://h/m?db=3&sentinel_username=u&sentinel_password=p", OpenConfig{}, ""},
		{"redis+sentinel://h/m?password=secret", OpenConfig{}, "parameter other than"},
		{"redis+sentinel://h", OpenConfig{}, "names no master"},
		{"redis+cluster://h?sentinel_password=secret", OpenConfig{}, "parameter other than"},
	} {
		c.cfg.URLs = []string{c.url}
		_, err := Open(c.cfg)
		var wrong *ConfigError
		if c.problem == "" && err != nil || c.problem != "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), c.problem)) {
			t.Errorf("%s: %v, want %q", c.url, err, c.problem)
		}
		if err != nil && strings.Contains(err.Error()+wrong.Hint, "secret") {
			t.Errorf("%s: %v", c.url, err)
		}
	}
}

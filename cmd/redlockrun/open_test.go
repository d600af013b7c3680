package main

import (
	"path/filepath"
	"slices"
	"testing"

	"redlockrun/internal/console"
	"redlockrun/internal/explain"
	"redlockrun/internal/session"
	"redlockrun/internal/store"
)

func TestAPasswordInPlainTextCausesAWarning(t *testing.T) {
	for url, warned := range map[string]bool{
		"redis://:p@10.0.0.1": true, "redis://u:p@db.example:7": true, "redis+sentinel://:p@127.0.0.1,s2/m": true,
		"redis+sentinel://s1/m?sentinel_password=p": true, "redis+cluster://:p@[fe80::1]": true,
		"redis://:p@127.0.0.1": false, "redis://:p@localhost": false, "redis://:p@[::1]": false, "rediss://:p@h": false,
		"rediss+sentinel://:p@h/m": false, "unix:///s": false, "redis://h": false, "redis://:p@h:x": false,
	} {
		c, err := read(map[string]string{"REDLOCKRUN_REDIS": url}, "-k", "x", "true")
		if err != nil || (len(store.ExposedPasswords(&c.Config)) == 1) != warned {
			t.Errorf("%s: %q, %v", url, store.ExposedPasswords(&c.Config), err)
		}
	}
	file := filepath.Join(t.TempDir(), "pw")
	c, err := read(map[string]string{"REDLOCKRUN_REDIS": "redis://h", "REDLOCKRUN_REDIS_PASSWORD_FILE": file},
		"-k", "x", "true")
	if err != nil || len(store.ExposedPasswords(&c.Config)) != 1 {
		t.Errorf("a password file: %q, %v", store.ExposedPasswords(&c.Config), err)
	}
}

func TestAnInvalidStoreGetsAHintForTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--redis", "redis://a,b"},
			"for several servers, use redis+sentinel:// or redis+cluster://, or several --redis for a quorum"},
		{[]string{"--redis", "redis://h?x=y"}, "use --redis-timeout for times; rediss:// and --redis-ca for TLS"},
		{[]string{"--redis", "redis+sentinel://h/m?x=y"},
			"use --redis-timeout for times; rediss+sentinel:// and --redis-ca for TLS"},
		{[]string{"--redis", "redis://a", "--redis", "redis://b"}, "use one --redis, or three or five for a quorum"},
		{[]string{"--redis", "redis://a", "--redis", "redis://a", "--redis", "redis://b"},
			"a quorum needs servers that fail independently"},
		{[]string{"--local=/dev/null"}, "name another directory: --local=DIR"},
	} {
		p, err := read(nil, append(append([]string{"-k", "x"}, c.args...), "true")...)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = session.New(&p, []string{"true"}, console.Console{}, nil).Open()
		if o := explain.Of(err, p); o.Status != explain.StatusUsage || !slices.Equal(o.Hints, []string{c.want}) {
			t.Errorf("%q: %+v, want %s", c.args, o, c.want)
		}
	}
}

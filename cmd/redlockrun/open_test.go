package main

import (
	"path/filepath"
	"testing"
)

func TestS4APasswordInPlainTextIsWarnedOf(t *testing.T) {
	for url, warned := range map[string]bool{
		"redis://:p@10.0.0.1": true, "redis://u:p@db.example:7": true, "redis+sentinel://:p@127.0.0.1,s2/m": true,
		"redis+sentinel://s1/m?sentinel_password=p": true, "redis+cluster://:p@[fe80::1]": true,
		"redis://:p@127.0.0.1": false, "redis://:p@localhost": false, "redis://:p@[::1]": false, "rediss://:p@h": false,
		"rediss+sentinel://:p@h/m": false, "unix:///s": false, "redis://h": false, "redis://:p@h:x": false,
	} {
		c, err := read(map[string]string{"REDLOCKRUN_REDIS": url}, "-k", "x", "true")
		if err != nil || (len(c.exposed()) == 1) != warned {
			t.Errorf("%s: %q, %v", url, c.exposed(), err)
		}
	}
	file := filepath.Join(t.TempDir(), "pw")
	c, err := read(map[string]string{"REDLOCKRUN_REDIS": "redis://h", "REDLOCKRUN_REDIS_PASSWORD_FILE": file}, "-k", "x", "true")
	if err != nil || len(c.exposed()) != 1 {
		t.Errorf("a password file: %q, %v", c.exposed(), err)
	}
}

package link

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
)

func TestURLsAreRead(t *testing.T) {
	for raw, want := range map[string]Address{
		"redis://127.0.0.1": {kind: single, network: "tcp", hosts: []string{"127.0.0.1:6379"}},
		"redis://":          {kind: single, network: "tcp", hosts: []string{"localhost:6379"}},
		"REDIS://Redis.example.com:6380/2": {kind: single, network: "tcp", hosts: []string{"Redis.example.com:6380"},
			db: 2},
		"redis://h/?db=3":               {kind: single, network: "tcp", hosts: []string{"h:6379"}, db: 3},
		"redis://[::1]:6380":            {kind: single, network: "tcp", hosts: []string{"[::1]:6380"}},
		"redis://[::1]":                 {kind: single, network: "tcp", hosts: []string{"[::1]:6379"}},
		"redis://[fe80::1%25eth0]:6380": {kind: single, network: "tcp", hosts: []string{"[fe80::1%eth0]:6380"}},
		"redis://[fe80::1%eth0.7]":      {kind: single, network: "tcp", hosts: []string{"[fe80::1%eth0.7]:6379"}},
		"redis+sentinel://[fe80::1%25a]/m": {kind: sentinel, network: "tcp", hosts: []string{"[fe80::1%a]:26379"},
			master: "m"},
		"redis://:p%40%2Fw@h": {kind: single, network: "tcp", hosts: []string{"h:6379"}, password: "p@/w"},
		"redis://al%3Aice:a:b c@h": {kind: single, network: "tcp", hosts: []string{"h:6379"}, user: "al:ice",
			password: "a:b c"},
		"redis://u:p@ss@h": {kind: single, network: "tcp", hosts: []string{"h:6379"}, user: "u",
			password: "p@ss"},
		"rediss://h:1":           {kind: single, network: "tcp", tls: true, hosts: []string{"h:1"}},
		"unix:///run/redis.sock": {kind: single, network: "unix", hosts: []string{"/run/redis.sock"}},
		"unix://u:p@/run/a%40b%20c.sock?db=1": {
			kind: single, network: "unix", hosts: []string{"/run/a@b c.sock"}, user: "u", password: "p", db: 1},
		"redis+sentinel://a,b:2/m/1": {kind: sentinel, network: "tcp", hosts: []string{"a:26379", "b:2"}, master: "m",
			db: 1},
		"rediss+sentinel://:p@a/m": {
			kind: sentinel, network: "tcp", tls: true, hosts: []string{"a:26379"}, master: "m", password: "p"},
		"redis+cluster://a:1,b,[::1]:3": {kind: cluster, network: "tcp", hosts: []string{"a:1", "b:6379", "[::1]:3"}},
		"rediss+cluster://u:p@a:1/": {kind: cluster, network: "tcp", tls: true, hosts: []string{"a:1"}, user: "u",
			password: "p"},
	} {
		got, err := addressOf(raw)
		if err != nil || got.kind != want.kind || got.network != want.network || got.tls != want.tls ||
			got.user != want.user || got.password != want.password || got.master != want.master ||
			got.db != want.db || !slices.Equal(got.hosts, want.hosts) {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
}

// addressOf reads a URL as Open does, with no other file that has a password.
func addressOf(raw string) (Address, error) {
	s := &Source{raw: raw}
	err := s.load(context.Background())
	return s.addr, err
}

// What is not understood is refused: skipping it would lock elsewhere.
func TestURLsOfOtherDialectsAreRefused(t *testing.T) {
	for _, raw := range []string{
		"", "h:6379", "redis:h", "valkey://h", "redis-sentinel://h/m", "http://h", "redis://a,b", "redis://h:0",
		"redis://h:65536",
		"redis://h:x", "redis://h o/", "redis://h/x", "redis://h/-1", "redis://h/0#x", "redis://h?skip_verify=true",
		"redis://h?db=1&db=2;x",
		"redis://h?db=", "redis://h?db=x", "redis://alice@h", "redis://alice:@h", "redis://:%zz@h", "redis://:a/b@h",
		"redis://:a?b@h",
		"redis://:a#b@h", "redis://h\n", "redis://[::1", "redis://[x]:1", "redis://[::1%]", "redis://[1.2.3.4%25lo]",
		"redis://[::1%25a b]", "redis://[::1%25lo%25lo]",
		"redis://h%25lo", "unix://", "unix://h/x", "unix://:a/b@/run/x", "redis+sentinel://h",
		"redis+sentinel://h/m/x", "redis+cluster://h/1", "redis+cluster://h?db=1", "file:", "file:/does/not/exist",
	} {
		if a, err := addressOf(raw); !errors.As(err, new(*lock.ConfigError)) &&
			!(raw == "redis://h?db=" && err == nil) {
			t.Errorf("%q: %+v, %v", raw, a, err)
		}
	}
}

func TestURLFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	for text, ok := range map[string]bool{
		"redis://h:1\n": true, " redis://h:1 \n\n": true,
		"": false, "\n": false, "file:/x": false, "h": false, "redis://h\nredis://i": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := addressOf("file:" + file)
		if (err == nil) != ok || ok && a.String() != "h:1" || !ok && !errors.As(err, new(*lock.ConfigError)) {
			t.Errorf("%q: %v, %v", text, a, err)
		}
	}
}

func TestPasswordsOfAFileAreThatOfTheLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	for text, want := range map[string]string{"p": "p", " p w \n": " p w ", "p\r\n": "p"} {
		locktest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		a := Address{}
		if err := a.addPasswords(t.Context(), lock.Servers{PasswordFile: file}); err != nil || a.password != want {
			t.Errorf("%q: %q, %v", text, a.password, err)
		}
	}
}

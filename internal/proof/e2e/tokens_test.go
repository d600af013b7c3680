//go:build e2e && linux

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// The user alice's tokens die after 2 s, with all connections that were made with them. What
// the job sees of that for 30 s is nothing.
func TestAJobOf30SecondsOutlivesItsTokens(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.provide("service", fmt.Sprintf(`#!/bin/sh
n=0
while [ -e up ]; do
	n=$((n + 1))
	printf 'ACL SETUSER alice on resetpass >token%%s ~* &* +@all\n' $n | redis-cli -s %[1]s >/dev/null
	echo token$n >token.new && mv token.new token
	echo CLIENT KILL USER alice | redis-cli -s %[1]s >/dev/null
	sleep 2
done
`, s.server.Socket()))
	s.env = append(s.env, "REDLOCKRUN_REDIS=redis://alice@"+s.server.Addr(),
		"REDLOCKRUN_REDIS_PASSWORD_COMMAND=cat token")
	ended := s.begin(s.command(t.Context(), "sh", "-c", ": >up; exec service"))
	defer func() { s.run("rm", "up"); ended() }()
	s.run("sh", "-c", "until [ -e token ]; do sleep 0.1; done")
	r := s.run("redlockrun", "--key", "long", "--ttl", "9", "--renew-every", "1", "-v", "--redis-timeout", "30",
		"-c", "sleep 30; echo ran")
	if r.status != 0 || r.stdout != "ran\n" || strings.Contains(r.stderr, "token") {
		t.Error(r)
	}
}

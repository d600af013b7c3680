//go:build linux && e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newMachine gives a walk a machine of its own, whose Redis, cron and programs are nobody
// else's: $1 has what is installed under /usr/local there, and what stands in /etc/default.
const newMachine = `set -e
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C.UTF-8 TZ=UTC
ip link set lo up
mount -t tmpfs none /run
mount -t tmpfs none /var/spool/cron
mkdir -m 1730 /var/spool/cron/crontabs
mount -t tmpfs none /etc/cron.d
mount --bind "$1/empty" /etc/crontab
mount --bind "$1/usr/local" /usr/local
mount --bind "$1/etc/default" /etc/default
cron -f & cron=$!
status=0
bash -c "$2" || status=$?
kill $cron
wait
exit $status`

// installed puts into the site what make install puts under PREFIX, and the manual page.
func (s *site) installed() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := s.command(ctx, "make", "-s", "build", "man", "install", "DESTDIR="+s.dir)
	cmd.Dir, cmd.Env = "../../..", os.Environ()
	if r := s.finish(cmd); r.status != 0 {
		s.t.Fatal(r)
	}
	page, err := os.ReadFile("../../../dist/redlockrun.1")
	if err != nil {
		s.t.Fatal(err)
	}
	s.provide("redlockrun.1", string(page))
}

// A new user types the first minute, pastes the line for cron, whose job fails, finds out,
// mends it, stops it for a while, and opens the manual: testdata/walk.txt, which begins as the README does.
func TestANewUserWalks(t *testing.T) {
	text, err := os.ReadFile("testdata/walk.txt")
	if err != nil {
		t.Fatal(err)
	}
	walk := string(text)
	if minute := masked(block(t, "session")); !strings.HasPrefix(masked(walk), minute) {
		t.Errorf("the walk does not begin with the README's first minute:\n%s", minute)
	}
	s := newSite(t)
	s.installed()
	for _, dir := range []string{"usr/local/bin", "etc/default"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.provide("empty", "")
	// It is started once: who looks has time.
	s.provide("usr/local/bin/php", "#!/bin/sh\ncrontab -r 2>/dev/null\n[ -e '"+s.dir+"/mended' ] || exit 3\n")
	s.provide("etc/default/redlockrun", strings.ReplaceAll(block(t, "defaults"), "redis.internal:6379",
		"127.0.0.1:7777"))
	s.provide("cancel-orders.crontab", strings.Replace(block(t, "crontab"), "*/5 *", "* *", 1)) // within a minute

	argv := asRoot("unshare", "--mount", "--net", "--pid", "--mount-proc", "--fork", "--kill-child",
		"sh", "-c", newMachine, "sh", s.dir, typed(walk, "7777"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := s.command(ctx, argv...)
	cmd.Env, cmd.WaitDelay = []string{"PATH=" + os.Getenv("PATH")}, 10*time.Second
	r := s.finish(cmd)
	if r.status != 0 || masked(r.stdout) != masked(walk) {
		t.Errorf("status %d, %s\ngot\n%s\nwant\n%s", r.status, r.stderr, masked(r.stdout), masked(walk))
	}
}

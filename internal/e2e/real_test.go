//go:build linux && e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asRoot is argv, by sudo if that is needed.
func asRoot(argv ...string) []string {
	if os.Getuid() == 0 {
		return argv
	}
	return append([]string{"sudo", "-n"}, argv...)
}

// cronHouse gives cron a machine of its own: no crontab of this one, and
// nothing left on it afterwards.
const cronHouse = `set -e
mount -t tmpfs none /run
mount -t tmpfs none /var/spool/cron
mkdir -m 1730 /var/spool/cron/crontabs
mount -t tmpfs none /etc/default
mount -t tmpfs none /etc/cron.d
mount --bind "$1/empty" /etc/crontab
cp "$1/defaults" /etc/default/redlockrun
cp "$1/crontab" /var/spool/cron/crontabs/root
chmod 600 /var/spool/cron/crontabs/root
chown -R root:root /var/spool/cron/crontabs/root "$1/empty"
exec cron -f`

func TestReadmeCrontabUnderARealCron(t *testing.T) {
	s := newSite(t)
	s.provide("php", "#!/bin/sh\necho \"$@\" >>'"+s.dir+"/ran'\n")
	s.provide("empty", "")
	s.provide("defaults", strings.ReplaceAll(block(t, "defaults"), "redis.internal:6379", s.server.Addr()))
	_, command := cronLine(t)
	var crontab strings.Builder
	fmt.Fprintf(&crontab, "PATH=%s:%s:/usr/bin:/bin\n", s.dir, bin)
	for range 3 { // hosts
		fmt.Fprintf(&crontab, "* * * * * %s >>'%s/said' 2>&1; echo $? >>'%s/ended'\n", command, s.dir, s.dir)
	}
	s.provide("crontab", crontab.String())

	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	argv := asRoot("unshare", "--mount", "sh", "-c", cronHouse, "sh", s.dir)
	cron := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said bytes.Buffer
	cron.Stdout, cron.Stderr = &said, &said
	cron.Cancel = func() error { return cron.Process.Signal(syscall.SIGTERM) }
	if err := cron.Start(); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(s.dir, name))
		return string(text)
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for strings.Count(read("ended"), "\n") < 3 && ctx.Err() == nil {
		<-ticker.C
	}
	cancel()
	_ = cron.Wait() // by our signal
	if got := read("ended"); got != "0\n0\n0\n" {
		t.Errorf("statuses %q; cron said %s", got, said.String())
	}
	if got := read("ran"); got != "/srv/shop/cancel_orders.php\n" {
		t.Errorf("ran %q", got)
	}
	if got := read("said"); got != "" {
		t.Errorf("cron would mail %q", got)
	}
}

func TestReadmeUnitsAreVerifiedBySystemd(t *testing.T) {
	s := newSite(t)
	php := s.provide("php", "#!/bin/sh\n")
	programs := strings.NewReplacer("/usr/local/bin/redlockrun", filepath.Join(bin, "redlockrun"), "/usr/bin/php", php)
	service := programs.Replace(block(t, "service"))
	units := []string{s.provide("cancel-orders.service", service), s.provide("cancel-orders.timer", block(t, "timer"))}
	for _, unit := range units {
		if err := os.Chmod(unit, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	argv := append([]string{"systemd-analyze", "verify", "--man=no"}, units...)
	if r := s.run(argv...); r != (run{}) {
		t.Error(r)
	}
}

func TestTheDemonstrationHappens(t *testing.T) {
	s := newSite(t)
	demo, err := filepath.Abs("../../scripts/demo.sh")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	r := s.run(demo, bin)
	if took := time.Since(start); r.status != 0 || took > 15*time.Second {
		t.Errorf("after %v: %v", took, r)
	}
	for _, claim := range []string{"1. ", "2. ", "3. ", "4. ", "5. ", "All of it happened."} {
		if !strings.Contains(r.stdout, claim) {
			t.Errorf("no %q", claim)
		}
	}
}

//go:build linux && e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// fleet are the lines of README.md and of the recipes, each on three hosts that start in the
// same minute, with the programs of this site.
func (s *site) fleet(hosts int, names ...string) string {
	var crontab strings.Builder
	fmt.Fprintf(&crontab, "PATH=%s:%s:/usr/bin:/bin\n", s.dir, bin)
	for _, name := range names {
		text := readCrontab(s.t, name).text
		text = strings.ReplaceAll(text, "--key cancel-orders", "--key "+name) // one key would be one tick
		text = strings.ReplaceAll(text, "/srv/backup", s.dir)
		for range hosts {
			fmt.Fprintf(&crontab, "* * * * * { %s; } >>'%s/said' 2>&1; echo $? >>'%s/ended'\n", text, s.dir, s.dir)
		}
	}
	return crontab.String()
}

func TestCrontabsUnderARealCron(t *testing.T) {
	s := newSite(t)
	// What chronic keeps back is printed under the key of that line alone.
	s.provide("php", "#!/bin/sh\necho $REDLOCKRUN_HELD_KEY >>'"+s.dir+"/ran'\n[ $REDLOCKRUN_HELD_KEY != mail ] || "+
		"echo noise\n")
	s.provide("pg_dump", "#!/bin/sh\necho $REDLOCKRUN_HELD_KEY >>'"+s.dir+"/ran'\n")
	s.provide("logger", "#!/bin/sh\nexec cat\n")
	s.provide("empty", "")
	s.provide("defaults", strings.ReplaceAll(block(t, "defaults"), "redis.internal:6379", s.server.Addr()))
	names := []string{"crontab", "takeover", "anacron", "mail"}
	const hosts = 3
	s.provide("crontab", s.fleet(hosts, names...))

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
	for strings.Count(read("ended"), "\n") < hosts*len(names) && ctx.Err() == nil {
		<-ticker.C
	}
	cancel()
	_ = cron.Wait() // by our signal
	if got := read("ended"); got != strings.Repeat("0\n", hosts*len(names)) {
		t.Errorf("statuses %q; cron said %s", got, said.String())
	}
	ran := strings.Fields(read("ran"))
	slices.Sort(ran)
	if want := []string{"crontab", "mail", "nightly-backup", "takeover"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q", ran)
	}
	if got := read("said"); got != "" {
		t.Errorf("cron would mail %q", got)
	}
	if days, err := filepath.Glob(filepath.Join(s.dir, "shop-20??-??-??.sql")); err != nil || len(days) != 1 {
		t.Errorf("%q %v", days, err)
	}
}

func TestRecipeMailComesOnlyOfAFailure(t *testing.T) {
	s := newSite(t)
	line := readCrontab(t, "mail")
	s.provide("php", "#!/bin/sh\necho said\necho ran >>ran\nexit 3\n")
	if r := s.cron(line, 1)[0]; r.status != 3 || r.stdout != "said\n" || !failedWithStatus3.MatchString(r.stderr) {
		t.Errorf("%v", r)
	}
	s.provide("php", "#!/bin/sh\necho said\necho ran >>ran\n")
	s.forget()
	want(t, s.cron(line, 2), run{}, run{})
	if ran := s.ran(); ran != "ran\n" {
		t.Errorf("two hosts ran %q", ran)
	}
}

func TestReadmeUnitsAreVerifiedBySystemd(t *testing.T) {
	s := newSite(t)
	php := s.provide("php", "#!/bin/sh\n")
	programs := strings.NewReplacer("=redlockrun ", "="+filepath.Join(bin, "redlockrun")+" ", "/usr/bin/php", php)
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
	demo, err := filepath.Abs("../../../scripts/demo.sh")
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

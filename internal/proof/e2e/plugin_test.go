//go:build linux && e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// negate is monitoring-plugins' own wrapper: OK and CRITICAL change places.
func (s *site) negate(words ...string) run {
	s.t.Helper()
	return s.run(append([]string{"/usr/lib/nagios/plugins/negate", "-t", "60", "-s", filepath.Join(bin, "redlockrun"),
		"check"}, words...)...)
}

// performanceData is label, value, unit, warning, critical, least and most, as the guidelines of
// the plugins have it.
var performanceData = regexp.MustCompile(`'([^'=]+)'=(-?[0-9.]+)([a-zA-Z%]*);` +
	`([0-9.:~@-]*);([0-9.:~@-]*);([0-9.]*)(?:;([0-9.]*))?(?: |$)`)

func TestCheckUnderTheWrapperOfMonitoringPlugins(t *testing.T) {
	s := newSite(t)
	s.succeed("orders")
	if r := s.negate("--max-age", "1h", "orders"); r.status != 2 ||
		!strings.HasPrefix(r.stdout, "REDLOCKRUN CRITICAL - orders: ") {
		t.Errorf("OK: %v", r)
	}
	r := s.negate("--max-age", "0.001", "--warn-age", "0.0005", "orders")
	if r.status != 0 || !strings.HasPrefix(r.stdout, "REDLOCKRUN OK - orders: no success for ") || r.stderr != "" {
		t.Errorf("CRITICAL: %v", r)
	}
	_, data, _ := strings.Cut(strings.TrimSpace(r.stdout), "|")
	m := performanceData.FindStringSubmatch(data)
	if m == nil || m[1] != "orders age" || m[3] != "s" || m[4] != "0.0005" && m[4] != "0" || m[5] != "0.001" ||
		m[6] != "0" {
		t.Errorf("the performance data %q are %q", data, m)
	}
	if r := s.negate("unheard-of"); r.status != 3 || r.stdout != "REDLOCKRUN UNKNOWN - unheard-of: never seen\n" {
		t.Errorf("UNKNOWN: %v", r)
	}
	r = s.negate("--max-aeg", "1h", "orders")
	if r.status != 3 || !strings.HasPrefix(r.stdout, "REDLOCKRUN UNKNOWN - there is no flag --max-aeg") {
		t.Errorf("a mistake: %v", r)
	}
	s.server.Close()
	if r := s.negate("orders"); r.status != 3 ||
		!strings.HasPrefix(r.stdout, "REDLOCKRUN UNKNOWN - cannot ask Redis at ") {
		t.Errorf("Redis is away: %v", r)
	}
}

func TestCheckOfAQuorumUnderTheWrapper(t *testing.T) {
	s := newSite(t)
	others := []*redistest.Server{redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{})}
	s.env = append(s.env, "REDLOCKRUN_REDIS="+s.server.URL()+" "+others[0].URL()+" "+others[1].URL(),
		"REDLOCKRUN_DURABLE=true")
	s.succeed("orders")
	others[0].Kill()
	r := s.negate("orders")
	if r.status != 2 || !strings.Contains(r.stdout, "no answer from "+others[0].Addr()) {
		t.Errorf("a minority is away: %v", r)
	}
	others[1].Kill()
	if r := s.negate("--redis-timeout", "2", "orders"); r.status != 3 {
		t.Errorf("a majority is away: %v", r)
	}
}

// systemd finds the program where packages put it, and where the archive does, and else says so.
func TestUnitsOfThePagesFindTheProgram(t *testing.T) {
	s := newSite(t)
	php := s.provide("php", "#!/bin/sh\n")
	s.provide("mail-root@.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
	argv := []string{"systemd-analyze", "verify", "--man=no"}
	for _, example := range []string{"service", "deadmanservice", "metricsservice"} {
		argv = append(argv, s.provide(unitName(t, example)+".service",
			strings.ReplaceAll(block(t, example), "/usr/bin/php", php)))
	}
	for _, unit := range append(argv[3:], filepath.Join(s.dir, "mail-root@.service")) {
		if err := os.Chmod(unit, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	enter := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		enter = append(enter, "--user", "--map-root-user")
	}
	over := `mount -t overlay overlay -o "lowerdir=$0:$1" "$1"; shift; exec "$@"`
	for dir, found := range map[string]bool{"/usr/bin": true, "/usr/local/bin": true, "/usr/local/share": false} {
		r := s.run(slices.Concat(enter, []string{"sh", "-ec", over, bin, dir}, argv)...)
		if said := strings.Count(r.stderr, "Command redlockrun is not executable"); found && r != (run{}) || !found &&
			said != 3 {
			t.Errorf("in %s: %v", dir, r)
		}
	}
}

func TestUnitsOfMonitoringAreVerifiedBySystemd(t *testing.T) {
	s := newSite(t)
	programs := strings.NewReplacer("=redlockrun ", "="+filepath.Join(bin, "redlockrun")+" ")
	var units []string
	for example, kind := range map[string]string{
		"deadmanservice": ".service", "deadmantimer": ".timer", "metricsservice": ".service", "metricstimer": ".timer",
	} {
		units = append(units, s.provide(unitName(t, example)+kind, programs.Replace(block(t, example))))
	}
	s.provide("mail-root@.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
	for _, unit := range append(units, filepath.Join(s.dir, "mail-root@.service")) {
		if err := os.Chmod(unit, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.run(append([]string{"systemd-analyze", "verify", "--man=no"}, units...)...); r != (run{}) {
		t.Error(r)
	}
}

//go:build linux && e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

// ages bound each wait for programs that look once a second, on a machine that does much else.
const ages = 3 * time.Minute

// A daemon is a program that serves on a port of the loopback, until the test ends.
type daemon struct {
	addr string
	said *bytes.Buffer
	over chan struct{}
}

// serve starts a program that is told its address as argv says by %s, on another port if
// somebody was faster, and waits until it answers.
func (s *site) serve(path string, argv ...string) *daemon {
	s.t.Helper()
	for range 5 {
		if d := s.serveOnce(path, argv); d != nil {
			return d
		}
	}
	s.t.Fatalf("%s does not serve", argv[0])
	return nil
}

func (s *site) serveOnce(path string, argv []string) *daemon {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	d := &daemon{addr: l.Addr().String(), said: new(bytes.Buffer), over: make(chan struct{})}
	l.Close()
	words := slices.Clone(argv)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "%s", d.addr)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, d.said, d.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { defer close(d.over); _ = cmd.Wait() }()
	end := sync.OnceFunc(func() { _ = cmd.Process.Signal(syscall.SIGTERM); <-d.over })
	s.t.Cleanup(end)
	up := redistest.Until(ages, func() bool {
		select {
		case <-d.over:
			return true
		default:
			_, err := d.get(path)
			return err == nil
		}
	})
	select {
	case <-d.over:
		s.t.Logf("%s: %s", words[0], d.said)
		return nil
	default:
	}
	if !up {
		end()
		s.t.Fatalf("%s: %s", words[0], d.said)
	}
	return d
}

// get is what it answers.
func (d *daemon) get(path string) (string, error) {
	client := http.Client{Timeout: 30 * time.Second}
	reply, err := client.Get("http://" + d.addr + path)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", reply.Status, text)
	}
	return string(text), err
}

// A series is one of a query's answer.
type series struct{ Metric map[string]string }

// query asks Prometheus.
func (d *daemon) query(expr string) (answer []series, err error) {
	text, err := d.get("/api/v1/query?query=" + url.QueryEscape(expr))
	var reply struct {
		Status string
		Data   struct{ Result []series }
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &reply)
	}
	if err == nil && reply.Status != "success" {
		err = fmt.Errorf("%s", text)
	}
	return reply.Data.Result, err
}

// alerts are those that fire, each as its name and key.
func (d *daemon) alerts() (firing []string, err error) {
	all, err := d.query(`ALERTS{alertstate="firing"}`)
	for _, a := range all {
		firing = append(firing, strings.TrimSpace(a.Metric["alertname"]+" "+a.Metric["key"]))
	}
	slices.Sort(firing)
	return firing, err
}

// fires waits until these alerts fire and no other, and then looks for a while whether it stays so.
func (d *daemon) fires(t *testing.T, wanted ...string) {
	t.Helper()
	slices.Sort(wanted)
	var firing []string
	var err error
	if !redistest.Until(ages, func() bool {
		firing, err = d.alerts()
		return err == nil &&
			slices.Equal(firing, wanted)
	}) {
		t.Fatalf("%q fire, want %q (%v)", firing, wanted, err)
	}
	evaluated := d.evaluations(t)
	for d.evaluations(t) < evaluated+5 {
		if firing, err = d.alerts(); err != nil || !slices.Equal(firing, wanted) {
			t.Fatalf("%q fire, want %q (%v)", firing, wanted, err)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// evaluations is how often the rules have been looked at.
func (d *daemon) evaluations(t *testing.T) (n int) {
	t.Helper()
	text, err := d.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "prometheus_rule_group_iterations_total{") &&
			strings.Contains(line, ";redlockrun\"") {
			_, _ = fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n)
		}
	}
	return n
}

// scrape is a node_exporter that reads the metrics in the site's directory, and a Prometheus that
// reads it each second, with the rules of the project.
func (s *site) scrape() *daemon {
	s.t.Helper()
	node := s.serve("/metrics", "prometheus-node-exporter", "--web.listen-address=%s", "--collector.disable-defaults",
		"--collector.textfile", "--collector.textfile.directory="+s.dir)
	impatient := strings.NewReplacer("for: 1m", "for: 1s", "for: 2m", "for: 1s", "for: 5m", "for: 1s",
		"+ 300", "+ 1")
	s.provide("alerts.yml", impatient.Replace(page(s.t, "docs/monitoring/alerts.yml")))
	s.provide("prometheus.yml", `global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [alerts.yml]
scrape_configs:
  - job_name: node
    static_configs: [{targets: ["`+node.addr+`"]}]
`)
	return s.serve("/-/ready", "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
		"--web.listen-address=%s")
}

// freeze leaves a run of a job that has stopped renewing and whose lock lasts.
func (s *site) freeze(key string) {
	s.t.Helper()
	cmd := s.command(s.t.Context(), "redlockrun", "--key", key, "--ttl", "1h", "--renew-every", "1", "--", "cat")
	input, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		input.Close()
		_ = cmd.Wait()
	})
	s.until("EXISTS", "redlockrun:{"+key+"}")
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	s.reaches(key, "silent")
}

// vanish leaves a run of a job that was killed.
func (s *site) vanish(key string) {
	s.t.Helper()
	cmd := s.command(s.t.Context(), "redlockrun", "--key", key, "--ttl", "2", "--", "sleep", "1000")
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.until("EXISTS", "redlockrun:{"+key+"}")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s.reaches(key, "vanished")
}

// reaches waits until a job is in a state.
func (s *site) reaches(key, state string) {
	s.t.Helper()
	var r run
	if !redistest.Until(ages, func() bool {
		r = s.run("redlockrun", "status", "--json", key)
		return strings.Contains(r.stdout, `"state":"`+state+`"`)
	}) {
		s.t.Fatalf("%s is never %s: %v", key, state, r)
	}
}

// keepWriting writes the metrics again and again, until stop.
func (s *site) keepWriting() (stop func()) {
	s.t.Helper()
	cmd := s.command(s.t.Context(), "sh", "-c", `while [ ! -e enough ]; do "$@"; sleep 0.5; done`, "sh")
	cmd.Args = append(cmd.Args, s.metricsService()...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { s.provide("enough", ""); _ = cmd.Wait() })
	s.t.Cleanup(stop)
	return stop
}

// A real Prometheus scrapes a real node_exporter that reads what a real fleet's metrics are.
func TestAlertsFireForWhatIsWrongAndForNothingElse(t *testing.T) {
	s := newSite(t)
	s.expect("cancel-orders", "1h", "true") // healthy
	s.expect("nightly-report", "1", "true") // never again
	s.expect("never-succeeded", "1", "false")
	s.expect("paused-job", "1", "true")
	s.vanish("died")
	s.freeze("frozen")
	if r := s.run("redlockrun", "pause", "-q", "paused-job"); r.status != 0 {
		t.Fatal(r)
	}
	if r := s.run("redlockrun", "--key", "failing", "--", "false"); r.status != 1 {
		t.Fatal(r)
	}
	s.succeed("slow")
	release := s.hold("slow")
	defer release()
	if _, err := s.server.Do("SET", "redlockrun:{foreign}", "of another program", "PX", 3_600_000); err != nil {
		t.Fatal(err)
	}
	if _, err := s.server.Do("ZADD", "redlockrun:jobs", time.Now().UnixMilli(), "foreign"); err != nil {
		t.Fatal(err)
	}
	stop := s.keepWriting()
	p := s.scrape()
	wrong := []string{
		"RedlockrunJobOverdue nightly-report", "RedlockrunJobOverdue never-succeeded", "RedlockrunJobVanished died",
		"RedlockrunJobSilent frozen", "RedlockrunJobFailed failing", "RedlockrunJobFailed never-succeeded",
		"RedlockrunJobSlow slow", "RedlockrunJobForeign foreign",
	}
	p.fires(t, wrong...)

	t.Run("the labels meet those of the scraper", func(t *testing.T) {
		found, err := p.query(`redlockrun_last_exit_status{key="failing"}`)
		if err != nil || len(found) != 1 {
			t.Fatalf("%v %v", found, err)
		}
		labels := slices.Sorted(maps.Keys(found[0].Metric))
		if !slices.Equal(labels, []string{"__name__", "instance", "job", "key"}) || found[0].Metric["job"] != "node" {
			t.Errorf("%v", found[0].Metric)
		}
	})
	t.Run("each query of the dashboard is answered", func(t *testing.T) {
		_ = s.run("redlockrun", "--key", "failing", "--", "false")
		_ = s.run("redlockrun", "--key", "cancel-orders", "--", "true")
		for _, panel := range readDashboard(t).Panels {
			for _, target := range panel.Targets {
				expr := strings.ReplaceAll(target.Expr, "$key", ".*")
				var found []series
				var err error
				if !redistest.Until(ages,
					func() bool { found, err = p.query(expr); return err == nil && len(found) > 0 }) {
					t.Errorf("%s: %s: %v %v", panel.Title, expr, found, err)
				}
			}
		}
	})
	t.Run("Redis is away", func(t *testing.T) {
		s.server.Kill()
		p.fires(t, "RedlockrunStoreDown")
		if err := s.server.Restart(false); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("nobody writes any more", func(t *testing.T) {
		s.succeed("cancel-orders")
		s.succeed("nightly-report")
		s.succeed("paused-job")
		if !redistest.Until(ages, func() bool {
			firing, err := p.alerts()
			return err == nil && len(firing) == 0
		}) {
			t.Error("it does not become quiet")
		}
		stop()
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(s.dir, textfile), old, old); err != nil {
			t.Fatal(err)
		}
		if !redistest.Until(ages, func() bool {
			firing, err := p.alerts()
			return err == nil && slices.Contains(firing, "RedlockrunMetricsTooOld")
		}) {
			t.Error("a file that is an hour old is no alarm")
		}
	})
}

// expect runs a command, and says how old the last success of its job may become.
func (s *site) expect(key, maxAge, command string) {
	s.t.Helper()
	if r := s.run("redlockrun", "--key", key, "--max-age", maxAge, "--",
		command); (r.status == 0) != (command == "true") {
		s.t.Fatal(r)
	}
}

func TestPromtoolPassesMetricsAndRules(t *testing.T) {
	s := newSite(t)
	s.succeed("orders")
	s.succeed(`a "b\c" 日本`)
	s.hold("held")
	r := s.run("sh", "-c", "redlockrun metrics | promtool check metrics")
	if r != (run{}) {
		t.Error(r)
	}
	s.server.Close()
	if r := s.run("sh", "-c", "redlockrun metrics 2>/dev/null | promtool check metrics"); r != (run{}) {
		t.Errorf("without Redis: %v", r)
	}
	for _, argv := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := s.command(t.Context(), append([]string{"promtool"}, argv...)...)
		cmd.Dir, _ = filepath.Abs("../../../docs/monitoring")
		if r := s.finish(cmd); r.status != 0 || !strings.Contains(r.stdout, "SUCCESS") {
			t.Errorf("%q: %v", argv, r)
		}
	}
}

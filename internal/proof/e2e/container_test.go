//go:build linux && e2e

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// handedOn is a job's image, and the option that shows it the program as /shared/redlockrun, as
// the image's own copy-self has put it there.
func (e *engine) handedOn(programs map[string]string) (image string, shared []string) {
	e.t.Helper()
	volume := e.shared()
	options := append(mount(volume, "/shared", "rw"), "--network", "none")
	if r := e.finish(e.contained(options, e.load(), "copy-self", "/shared")); r != (run{}) {
		e.t.Fatal(r)
	}
	there, err := os.Stat(filepath.Join(volume, "redlockrun"))
	if err != nil || there.Mode() != 0o755 {
		e.t.Fatalf("%v, %v", there, err)
	}
	return e.jobImage(programs), slices.Concat(mount(volume, "/shared", "ro"), []string{"--user", "65532:65532"})
}

func TestTheImageServesOperators(t *testing.T) {
	e := newEngine(t)
	image := e.load()
	words := strings.Fields(strings.TrimSpace(block(t, "imagestatus")))
	at := slices.Index(words, "registry.example.com/redlockrun:0.9.0")
	if at < 0 || !slices.Equal(words[:3], []string{"podman", "run", "--rm"}) {
		t.Fatalf("%q", words)
	}
	for _, option := range confinement() {
		if option != "--read-only-tmpfs=false" && !slices.Contains(words[:at], option) {
			t.Errorf("it is not called with %s: %q", option, words)
		}
	}
	if r := e.run("redlockrun", "-k", "backup", "true"); r != (run{}) {
		t.Error(r)
	}
	if r := e.finish(e.contained(e.network(), image, words[at+1:]...)); r.status != 0 ||
		!strings.Contains(r.stdout, "\nbackup  idle ") {
		t.Error(r)
	}
	// A time zone is known, and what a run needs is there: only the command is missing.
	zone := append(e.network(), "--env", "TZ=Europe/Berlin")
	self := []string{"-k", "x", "--once-per", "1d", "--", "/usr/local/bin/redlockrun", "--version"}
	if r := e.finish(e.contained(zone, image, self...)); r.status != 0 || !strings.HasPrefix(r.stdout, "redlockrun ") ||
		r.stderr != "" {
		t.Error(r)
	}
	for status, words := range map[int][]string{
		127: {"-k", "y", "-c", "echo"},
		64:  {"-k", "y", "--local", "true"},
		69:  {"status", "--redis-password-command", "cat /run/token"},
		71:  {"copy-self", "/usr/local/bin"},
	} {
		if r := e.finish(e.contained(e.network(), image, words...)); r.status != status ||
			!strings.Contains(r.stderr, "redlockrun: error: ") {
			t.Errorf("%q: %v", words, r)
		}
	}
}

// The image's certificates are where the program looks for them: with others in their place
// it knows a private authority, and with its own it does not.
func TestTheImageKnowsTheAuthoritiesOfItsFile(t *testing.T) {
	e := newEngine(t)
	image := e.load()
	e.server = redistest.Start(t, redistest.Options{TLS: true})
	if r := e.finish(e.contained(e.network(), image, "status")); r.status != 69 ||
		!strings.Contains(r.stderr, "authority") {
		t.Error(r)
	}
	ca := filepath.Join(e.shared(), "ca.crt")
	text, err := os.ReadFile(e.server.CA())
	if err == nil {
		err = os.WriteFile(ca, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	others := append(e.network(), mount(ca, "/etc/ssl/certs/ca-certificates.crt", "ro")...)
	if r := e.finish(e.contained(others, image, "status")); r.status != 0 {
		t.Error(r)
	}
}

// confinedJob tells as which process and with which rights it runs.
const confinedJob = `grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs):' /proc/1/status /proc/self/status
touch /here 2>/dev/null && echo 'the root can be written to'
echo "child of $PPID"
exit 5`

func TestAContainerWithoutRightsRunsAJob(t *testing.T) {
	e := newEngine(t)
	image, shared := e.handedOn(nil)
	options := append(shared, e.network()...)
	want := "child of 1\n"
	for _, process := range []string{"self", "1"} {
		want = fmt.Sprintf("/proc/%[1]s/status:Uid:\t65532\t65532\t65532\t65532\n"+
			"/proc/%[1]s/status:CapEff:\t%016[2]x\n"+
			"/proc/%[1]s/status:CapBnd:\t%016[2]x\n/proc/%[1]s/status:NoNewPrivs:\t1\n", process, 0) + want
	}
	r := e.finish(e.contained(options, image, "/shared/redlockrun", "-k", "job", "--", "sh", "-c", confinedJob))
	if r.status != 5 || r.stdout != want {
		t.Errorf("%v, want %q", r, want)
	}
	for status, words := range map[int][]string{
		0:   {"-k", "job", "true"},
		127: {"-k", "job", "nonesuch"},
		137: {"-k", "job", "-c", "kill -9 $$"},
		124: {"-k", "job", "--max-runtime", "0.2", "sleep", "1000"},
	} {
		r := e.finish(e.contained(options, image, append([]string{"/shared/redlockrun"}, words...)...))
		if r.status != status {
			t.Errorf("%q: %v", words, r)
		}
	}
	// Under a shell it is not the first process, and has a guard.
	under := e.contained(options, image, "sh", "-c", "/shared/redlockrun -k job -- sh -c 'exit 5'; exit $?")
	if r := e.finish(under); r != (run{status: 5}) {
		t.Errorf("under a shell: %v", r)
	}
}

func TestAContainerIsRidOfWhatItsJobLeaves(t *testing.T) {
	e := newEngine(t)
	image, shared := e.handedOn(nil)
	const orphans = `i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done
while grep -qs '^State:.Z' /proc/[0-9]*/status; do sleep 0.05; done
sleep 1000 </dev/null >/dev/null 2>&1 &
test $PPID = 1 && exit 5`
	r := e.finish(e.contained(append(shared, e.network()...), image, "/shared/redlockrun", "-k", "job", "-c", orphans))
	if r != (run{status: 5}) {
		t.Error(r)
	}
	e.until("EXISTS", "redlockrun:{job}:job")
	if held, err := e.server.Do("EXISTS", "redlockrun:{job}"); err != nil || held != int64(0) {
		t.Errorf("the lock is there: %v, %v", held, err)
	}
}

// trapping is a job that tells which signals came.
const trapping = `trap 'echo usr1; : >/state/usr1' USR1
trap 'echo term; exit 9' TERM
: >/state/ready
while :; do sleep 0.05; done`

func TestAContainerHandsOnSignals(t *testing.T) {
	e := newEngine(t)
	image, shared := e.handedOn(nil)
	state := e.shared()
	options := slices.Concat(shared, e.network(), mount(state, "/state", "rw"), []string{"--name", "signalled"})
	ended := e.begin(e.contained(options, image, "/shared/redlockrun", "-k", "job", "-c", trapping))
	e.untilFile(filepath.Join(state, "ready"))
	e.must("kill", "--signal", "USR1", "signalled")
	e.untilFile(filepath.Join(state, "usr1"))
	e.must("stop", "--time", "600", "signalled")
	if r := ended(); r.status != 9 || r.stdout != "usr1\nterm\n" {
		t.Error(r)
	}
	if held, err := e.server.Do("EXISTS", "redlockrun:{job}"); err != nil || held != int64(0) {
		t.Errorf("the lock is there: %v, %v", held, err)
	}
}

func TestAContainerThatWaitsForTheLockIsStopped(t *testing.T) {
	e := newEngine(t)
	image, shared := e.handedOn(nil)
	e.hold("job")
	options := slices.Concat(shared, e.network(), []string{"--name", "waiting"})
	ended := e.begin(e.contained(options, image, "/shared/redlockrun", "-k", "job", "--wait", "forever", "true"))
	e.until("ZCARD", "redlockrun:{job}:queue")
	e.must("stop", "--time", "600", "waiting")
	if r := ended(); r.status != 143 {
		t.Error(r)
	}
	if waiting, err := e.server.Do("ZCARD", "redlockrun:{job}:queue"); err != nil || waiting != int64(0) {
		t.Errorf("%v wait, %v", waiting, err)
	}
}

func TestAContainerReachesRedisThroughASocket(t *testing.T) {
	e := newEngine(t)
	image, shared := e.handedOn(nil)
	if err := os.Chmod(e.server.Socket(), 0o777); err != nil {
		t.Fatal(err)
	}
	options := slices.Concat(shared, mount(e.server.Socket(), "/run/redis/redis.sock", "rw"),
		[]string{"--network", "none", "--env", "REDLOCKRUN_REDIS=unix:///run/redis/redis.sock"})
	r := e.finish(e.contained(options, image, "/shared/redlockrun", "-k", "job", "-c", `echo "$REDLOCKRUN_HELD_KEY"`))
	if r != (run{0, "job\n", ""}) {
		t.Error(r)
	}
}

func TestRecipeTheJobsImageHasTheProgram(t *testing.T) {
	e := newEngine(t)
	text := strings.NewReplacer("registry.example.com/redlockrun:0.9.0", e.load(), "registry.example.com/shop:1.4",
		e.jobImage(nil)).
		Replace(block(t, "copyfrom"))
	e.must("build", "--file", e.provide("Containerfile", text), "--tag", "joined", e.shared())
	r := e.finish(e.contained(e.network(), "localhost/joined", "redlockrun", "-k", "job", "--", "sh", "-c",
		`echo "child of $PPID"`))
	if r != (run{0, "child of 1\n", ""}) {
		t.Error(r)
	}
}

// started is the container of a pod, as a kubelet has it started for the Job.
func (e *engine) started(p pod, c confined, volumes map[string]string, image, job string) run {
	e.t.Helper()
	words, env := e.words(c.container, job)
	options := []string{"--network", "host", "--user", fmt.Sprint(p.Spec.SecurityContext.RunAsUser)}
	for _, m := range c.VolumeMounts {
		how := "rw"
		if m.ReadOnly {
			how = "ro"
		}
		options = append(options, mount(volumes[m.Name], m.MountPath, how)...)
	}
	for name, value := range maps.All(env) {
		options = append(options, "--env", name+"="+value)
	}
	return e.finish(e.contained(options, image, words...))
}

func TestRecipeTheProgramComesByAVolume(t *testing.T) {
	e := newEngine(t)
	p := readPod(t)
	ours, shop := e.load(), e.jobImage(map[string]string{"php": "#!/bin/sh\necho \"child of $PPID: $*\"\n"})
	first, job := p.Spec.InitContainers[0], p.Spec.Containers[0]
	for _, ran := range []string{"child of 1: /srv/shop/cancel_orders.php\n", ""} { // two pods of one Job
		volumes := map[string]string{}
		for _, v := range p.Spec.Volumes {
			volumes[v.Name] = e.shared()
		}
		for range 2 { // an init container may be started again
			if r := e.started(p, first, volumes, ours, "cancel-orders-29405760"); r != (run{}) {
				t.Fatal(r)
			}
		}
		if r := e.started(p, job, volumes, shop, "cancel-orders-29405760"); r != (run{0, ran, ""}) {
			t.Errorf("%v, want %q", r, ran)
		}
	}
}

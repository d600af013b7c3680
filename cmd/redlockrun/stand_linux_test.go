package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/ptytest"
	"redlockrun/internal/proof/redistest"
)

// A standing is a run whose command stands still, because its user may do nothing at the server.
type standing struct {
	t      *testing.T
	server *redistest.Server
	run    *process
	log    string // each member adds to it as long as it runs
	leader int
	group  []int // its members, the leader too
}

// stands starts a run of text, which makes the file $0.
func stands(t *testing.T, ttl, text string, flags ...string) *standing {
	t.Helper()
	st := &standing{t: t, server: redistest.Start(t, redistest.Options{}), log: filepath.Join(t.TempDir(), "log")}
	st.do("ACL", "SETUSER", "jobs", "on", ">pw", "~*", "&*", "+@all")
	args := append([]string{"-k", "job", "--ttl", ttl, "--on-lost", "pause", "-q"}, flags...)
	url := strings.Replace(st.server.URL(), "://", "://jobs:pw@", 1)
	st.run = launch(t, url, append(args, "sh", "-c", `echo $$ >"$0.leader"; `+text, st.log)...)
	until(t, "the command", func() bool { return exists(st.log) })
	pid, err := os.ReadFile(st.log + ".leader")
	if err != nil {
		t.Fatal(err)
	}
	st.leader, _ = strconv.Atoi(strings.TrimSpace(string(pid)))
	return st
}

// twoBeat is a command of two members that add to the log, and have several threads each.
const twoBeat = `exec job "$0" grandchild`

func (st *standing) do(words ...any) {
	st.t.Helper()
	if _, err := st.server.Do(words...); err != nil {
		st.t.Fatal(err)
	}
}

// lose takes the right to renew away, and waits until the command stands still.
func (st *standing) lose() *standing {
	st.t.Helper()
	st.do("ACL", "SETUSER", "jobs", "-eval")
	until(st.t, "a command that stands still", st.still)
	return st
}

func (st *standing) regain() { st.t.Helper(); st.do("ACL", "SETUSER", "jobs", "+eval") }

// still reports whether all members are stopped, and notes them.
func (st *standing) still() bool {
	st.group = nil
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if group, gone := syscall.Getpgid(pid); err != nil || gone != nil || group != st.leader {
			continue
		}
		if stateOf(pid) != 'T' && !isDead(pid) {
			return false
		}
		st.group = append(st.group, pid)
	}
	return len(st.group) > 0
}

func (st *standing) size() int64 {
	info, err := os.Stat(st.log)
	if err != nil {
		st.t.Fatal(err)
	}
	return info.Size()
}

// lastGrowth is for how long after began the log has grown, observed until it is quiet.
func (st *standing) lastGrowth(began time.Time) (last time.Duration) {
	size, quiet := st.size(), time.Now()
	for time.Since(quiet) < 60*time.Millisecond {
		if now := st.size(); now != size {
			size, quiet, last = now, time.Now(), -boottime.Until(began)
		}
		time.Sleep(time.Millisecond)
	}
	return last
}

// goesOn waits until the command adds to its log.
func (st *standing) goesOn() {
	st.t.Helper()
	size := st.size()
	until(st.t, "a command that goes on", func() bool { return st.size() > size })
}

// diesWithin checks that no member is left soon.
func (st *standing) diesWithin(limit time.Duration) {
	st.t.Helper()
	began := boottime.Now()
	for _, pid := range st.group {
		until(st.t, "the end of the command", func() bool { return isDead(pid) })
	}
	if took := -boottime.Until(began); took > limit {
		st.t.Errorf("it was dead after %v", took)
	}
}

// soon is 100 ms, on a busy machine.
const soon = 500 * time.Millisecond

// continues is how often a command that stands still is continued from outside: STAND_CONTINUES=1000
// is the long form.
func continues() int {
	if n, err := strconv.Atoi(os.Getenv("STAND_CONTINUES")); err == nil {
		return n
	}
	return 20
}

// A command that is continued from outside is stopped again. On a busy machine its guard may see it twice before that:
// then the guard kills it.
func TestACommandThatStandsIsStoppedAgain(t *testing.T) {
	t.Parallel()
	st := stands(t, "0.5", twoBeat).lose()
	wantNoLock(t, st.server)
	var worst time.Duration
	ran, again := 0, 0
	for range continues() {
		pid := append(st.group, -st.leader)[rand.IntN(len(st.group)+1)]
		time.Sleep(rand.N(40 * time.Millisecond))
		began := boottime.Now()
		syscall.Kill(pid, syscall.SIGCONT)
		took := st.lastGrowth(began)
		worst = max(worst, took)
		if took > 0 {
			ran++
		}
		if isDead(st.leader) {
			break
		}
		again++
	}
	t.Logf("stopped again %d times of %d; %d times it has written, for %v at most", again, continues(), ran, worst)
	if worst > soon || again == 0 {
		t.Errorf("a command that was continued has written for %v, and was stopped again %d times", worst, again)
	}
	size := st.size()
	st.regain()
	until(t, "a command that goes on or was killed", func() bool { return st.size() > size || isDead(st.leader) })
	if isDead(st.leader) {
		st.run.ends(76)
		return
	}
	st.run.signal(syscall.SIGTERM)
	st.run.ends(143)
}

// Another run gets the lock at a random moment, while the command is continued from outside, and the
// run learns of that.
func TestACommandThatStandsNeverGoesOnBesideAnother(t *testing.T) {
	t.Parallel()
	st := stands(t, "0.5", twoBeat).lose()
	wantNoLock(t, st.server)
	launch(t, st.server.URL(), "-k", "job", "true").ends(0)
	size := st.size()
	st.regain()
	st.run.ends(76)
	if st.size() != size {
		t.Error("it has written although another has had the lock")
	}
}

func TestAStormOfContinuationsEndsACommandThatStands(t *testing.T) {
	t.Parallel()
	st := stands(t, "0.5", twoBeat).lose()
	wantNoLock(t, st.server)
	began := boottime.Now()
	for !st.run.over() && -boottime.Until(began) < 10*time.Second {
		syscall.Kill(-st.leader, syscall.SIGCONT)
		time.Sleep(200 * time.Microsecond)
	}
	took := -boottime.Until(began)
	st.run.ends(76)
	if took > 2*time.Second {
		t.Errorf("it was killed after %v", took)
	}
}

func TestACommandThatStandsDiesWithItsRedlockrun(t *testing.T) {
	t.Parallel()
	for _, unguarded := range []bool{false, true} { // its first guard was killed
		st := stands(t, "0.5", twoBeat).lose()
		wantNoLock(t, st.server)
		if unguarded {
			first := guardOf(st.run)
			syscall.Kill(first, syscall.SIGKILL)
			until(t, "another guard", func() bool { g := guardOf(st.run); return g != 0 && g != first })
			time.Sleep(100 * time.Millisecond)
			if !st.still() {
				t.Error("it runs when its guard was killed")
			}
		}
		size := st.size()
		st.run.kill()
		st.diesWithin(soon)
		if st.size() != size {
			t.Error("it has written when its redlockrun was killed")
		}
	}
}

// While redlockrun is frozen, only the guard looks.
func TestTheGuardKillsWhatAFrozenRedlockrunDoesNotStopAgain(t *testing.T) {
	t.Parallel()
	for member := range 2 {
		st := stands(t, "0.5", twoBeat).lose()
		wantNoLock(t, st.server)
		st.run.signal(syscall.SIGSTOP)
		untilStopped(t, st.run.cmd.Process.Pid)
		time.Sleep(300 * time.Millisecond)
		if !st.still() {
			t.Fatal("it does not stand still while its redlockrun is frozen")
		}
		began := boottime.Now()
		syscall.Kill(st.group[min(member, len(st.group)-1)], syscall.SIGCONT)
		if ran := st.lastGrowth(began); ran > soon {
			t.Errorf("it ran for %v", ran)
		}
		st.diesWithin(soon)
		st.run.signal(syscall.SIGCONT)
		st.run.ends(76)
	}
}

// Frozen at any moment around the instant at which it stands still, redlockrun leaves no member running
// when the lock has ended.
func TestAFreezeAtAnyMomentLeavesNoneRunningWithoutALock(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	for range 10 {
		st := stands(t, "0.5", twoBeat)
		st.do("ACL", "SETUSER", "jobs", "-eval")
		time.Sleep(200*time.Millisecond + rand.N(300*time.Millisecond))
		st.run.signal(syscall.SIGSTOP)
		wantNoLock(t, st.server)
		size := st.size()
		time.Sleep(200 * time.Millisecond)
		if st.size() != size {
			t.Error("it runs without a lock")
		}
		launch(t, st.server.URL(), "-k", "job", "true").ends(0)
		st.regain()
		st.run.signal(syscall.SIGCONT)
		st.run.ends(76)
		if st.size() != size {
			t.Error("it went on although another has had the lock")
		}
	}
}

// Members that fork all the time, by fork and by vfork, stop and go on.
func TestAGroupThatForksAllTheTimeStandsStill(t *testing.T) {
	t.Parallel()
	const forks = `: >"$0"; (while :; do /bin/true; echo x >>"$0"; done) & (while :; do (:) & wait; done) & wait`
	st := stands(t, "1", forks)
	for range 3 {
		st.lose()
		wantNoLock(t, st.server)
		if !st.still() {
			t.Error("it does not stand still")
		}
		st.regain()
		st.goesOn()
	}
	st.run.signal(syscall.SIGKILL)
}

func TestAGroupThatStoodBeforeStaysStopped(t *testing.T) {
	t.Parallel()
	st := stands(t, "0.5", twoBeat)
	syscall.Kill(-st.leader, syscall.SIGSTOP)
	until(t, "a stop", st.still)
	st.do("ACL", "SETUSER", "jobs", "-eval")
	wantNoLock(t, st.server)
	st.regain()
	until(t, "the lock", func() bool { n, _ := st.server.Do("EXISTS", "redlockrun:{job}"); return n == int64(1) })
	time.Sleep(300 * time.Millisecond)
	if !st.still() {
		t.Error("it goes on though another process had stopped it")
	}
	syscall.Kill(-st.leader, syscall.SIGCONT)
	st.goesOn()
	st.run.signal(syscall.SIGTERM)
	st.run.ends(143)
}

func TestASuspendedRunRegainsItsLockBeforeItsCommandGoesOn(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"lost first", "suspended first"} {
		st := stands(t, "0.5", twoBeat)
		if order == "lost first" {
			st.lose()
			st.run.signal(syscall.SIGTSTP)
		} else {
			st.run.signal(syscall.SIGTSTP)
			untilStopped(t, st.run.cmd.Process.Pid)
			st.lose()
		}
		untilStopped(t, st.run.cmd.Process.Pid)
		wantNoLock(t, st.server)
		st.run.signal(syscall.SIGCONT)
		time.Sleep(300 * time.Millisecond)
		if !st.still() {
			t.Errorf("%s: it goes on without a lock", order)
		}
		st.regain()
		st.goesOn()
		st.run.signal(syscall.SIGTERM)
		st.run.ends(143)
	}
}

func TestAsPID1ACommandStandsStillToo(t *testing.T) {
	t.Parallel()
	ability.Need(t, ability.Namespaces)
	s := redistest.Start(t, redistest.Options{})
	log := filepath.Join(t.TempDir(), "log")
	run := launchCommand(t, s.URL(), exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
		binary(t), "-k", "job", "--ttl", "0.5", "--on-lost", "pause", "sh", "-c", beats, log))
	until(t, "the command", func() bool { return exists(log) })
	st := &standing{t: t, server: s, run: run, log: log, leader: onlyChild(onlyChild(run.cmd.Process.Pid))}
	must(s.Signal(syscall.SIGSTOP))
	until(t, "a command that stands still", st.still)
	began := boottime.Now()
	must(syscall.Kill(st.leader, syscall.SIGCONT))
	if ran := st.lastGrowth(began); ran > soon {
		t.Errorf("it ran for %v", ran)
	}
	must(s.Signal(syscall.SIGCONT))
	st.goesOn()
}

// onlyChild returns the child of any thread of a process.
func onlyChild(parent int) (pid int) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(parent) + "/task/*/children")
	for _, file := range files {
		if text, _ := os.ReadFile(file); len(text) > 0 {
			pid, _ = strconv.Atoi(strings.Fields(string(text))[0])
		}
	}
	return pid
}

const typedPause = "redlockrun -k job --ttl 2 --on-lost pause cat\n"

// standsStill freezes the server, and waits until the cat that has the terminal loses it.
func (d *shellSession) standsStill() {
	d.t.Helper()
	d.program("cat")
	d.cat("one")
	d.server.Signal(syscall.SIGSTOP)
	d.Expect("stands still")
	d.program("redlockrun")
}

func TestAtATerminalCtrlCEndsACommandThatStands(t *testing.T) {
	d := bash(t)
	d.Type(typedPause)
	d.standsStill()
	d.interrupt()
	d.server.Signal(syscall.SIGCONT)
}

func TestAtATerminalACommandThatStoodHasItAgain(t *testing.T) {
	d := bash(t)
	d.Type(typedPause)
	d.standsStill()
	d.server.Signal(syscall.SIGCONT)
	d.program("cat")
	d.cat("two")
	d.Type(ptytest.CtrlC)
	d.shell()
}

func TestAtATerminalCtrlZSuspendsARunThatStands(t *testing.T) {
	d := bash(t)
	d.Type(typedPause)
	d.standsStill()
	d.suspend()
	d.Type("fg\n")
	d.program("redlockrun")
	d.server.Signal(syscall.SIGCONT)
	d.program("cat")
	d.cat("two")
	d.Type(ptytest.CtrlC)
	d.shell()
}

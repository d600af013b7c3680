package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/ptytest"
	"redlockrun/internal/proof/redistest"
)

// In these tests a person types redlockrun at an interactive shell. What a program
// says about itself is spelt so that it differs from what was typed.

// Programs that a person runs, in the directory $D.
var programs = map[string]string{
	// Reads the foreground group of the terminal, before anything else is done.
	"whose": `read -r _ _ _ _ group _ _ owner _ </proc/$$/stat
[ "$group" = "$owner" ] && echo has the terminal || echo has it not`,
	"sleeper": `echo started; exec sleep 1000`,
	"script":  `"$@"; echo the script goes on`,
}

// A shellSession is an interactive shell with redlockrun and the programs.
type shellSession struct {
	*ptytest.Terminal
	t      *testing.T
	dir    string
	server *redistest.Server
}

func newShellSession(t *testing.T, shell string) *shellSession {
	t.Helper()
	d := &shellSession{t: t, dir: t.TempDir(), server: redistest.Start(t, redistest.Options{})}
	for name, text := range programs {
		writeExecutable(t, filepath.Join(d.dir, name), "#!/bin/sh\n"+text+"\n")
	}
	d.Terminal = ptytest.ShellNamed(t, shell, config.FileVar+"=/dev/null", "REDLOCKRUN_REDIS="+d.server.URL(),
		"D="+d.dir,
		"PATH="+d.dir+":"+filepath.Dir(binary(t))+":"+os.Getenv("PATH"))
	d.Type("cd $D\n")
	return d
}

// bash is a desk with bash, in a test of its own.
func bash(t *testing.T) *shellSession {
	t.Helper()
	t.Parallel()
	return newShellSession(t, "bash")
}

// eachShell runs test at each kind of shell.
func eachShell(t *testing.T, test func(*shellSession)) {
	t.Parallel()
	for _, shell := range ptytest.Shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			test(newShellSession(t, shell))
		})
	}
}

// program waits until a program of one of names has the terminal.
func (d *shellSession) program(names ...string) (group int) {
	d.t.Helper()
	until(d.t, names[0]+" in the foreground",
		func() bool { group = d.Foreground(); return slices.Contains(names, nameOf(group)) })
	return group
}

// shell waits until the shell has the terminal, and shows that it lives.
func (d *shellSession) shell() {
	d.t.Helper()
	until(d.t, "the shell in the foreground", func() bool { return d.Foreground() == d.Pid() })
	d.Type("echo li''ves\n")
	d.Expect("lives")
}

// cat types a line to the cat that has the terminal, and sees it again.
func (d *shellSession) cat(line string) {
	d.t.Helper()
	d.Type(line + "\n")
	d.Expect(line + "\r\n" + line)
}

// suspend types Ctrl-Z, and waits for the shell.
func (d *shellSession) suspend() {
	d.t.Helper()
	d.Type(ptytest.CtrlZ)
	d.shell()
}

// interrupt types Ctrl-C, and waits for the shell.
func (d *shellSession) interrupt() {
	d.t.Helper()
	d.Type(ptytest.CtrlC)
	d.shell()
}

func nameOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}

func TestAtATerminalATypedCommandHasItFromTheStart(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		for range 20 {
			d.Type("redlockrun -k job whose\n")
			if said := d.Expect("has "); strings.Contains(said, "redlockrun:") {
				d.t.Errorf("it said %q", said)
			}
			d.Expect("the terminal")
		}
		d.shell()
	})
}

func TestAtATerminalAScriptDoesNotTakeIt(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		for _, line := range []string{
			"redlockrun -k job whose | cat",
			"redlockrun -k job whose </dev/null",
			"cat /dev/null | redlockrun -k job whose",
			"script redlockrun -k job whose",
			"redlockrun -k job whose &",
		} {
			d.Type(line + "\n")
			d.Expect("has it not")
		}
		d.shell()
	})
}

// The child that execve refuses has taken the terminal already.
func TestAtATerminalWhatExecveRefusesLeavesIt(t *testing.T) {
	d := bash(t)
	writeExecutable(t, filepath.Join(d.dir, "broken"), "#!/nonexistent\n")
	writeExecutable(t, filepath.Join(d.dir, "plain"), programs["whose"])
	d.Type("redlockrun -k job $D/broken; echo st''atus=$?\n")
	d.Expect("status=127")
	d.shell()
	d.Type("redlockrun -k job $D/plain\n")
	d.Expect("has the terminal")
	d.shell()
}

func TestAtATerminalCtrlCEndsALoop(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		head, tail := "for i in 1 2 3; do ", "; done\n"
		if nameOf(d.Pid()) == "fish" {
			head, tail = "for i in 1 2 3; ", "; end\n"
		}
		for _, command := range []string{"redlockrun -k job sleeper", "redlockrun -k job sleeper | cat"} {
			d.Type(head + command + tail)
			d.Expect("started")
			d.interrupt()
		}
		if n := strings.Count(d.Output(), "started"); n != 2 {
			d.t.Errorf("%d runs, want 2", n)
		}
	})
}

// suspendCat stops and continues the cat that runs, again and again, and ends it.
func (d *shellSession) suspendCat() {
	d.t.Helper()
	for range 3 {
		d.program("cat")
		d.cat("one")
		d.suspend()
		d.Type("fg\n")
	}
	d.program("cat")
	d.Type(ptytest.CtrlD)
}

func TestAtATerminalCtrlZAndFg(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		d.Type("redlockrun -k job cat\n")
		d.suspendCat()
		d.shell()
	})
}

// A program that is continued in the background does not get the terminal.
func TestAtATerminalBgAndFg(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		d.Type("redlockrun -k job sleeper\n")
		group := d.program("sleep")
		d.suspend()
		d.Type("bg\n")
		until(d.t, "the program goes on", func() bool { return stateOf(group) == 'S' })
		d.shell()
		d.Type("fg\n") // most shells tell a job that runs nothing of it
		until(d.t, "the job in the foreground", func() bool { return d.Foreground() != d.Pid() })
		d.interrupt()
	})
}

func TestAtATerminalTheForegroundJobHasIt(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		d.Type("redlockrun -k job sleeper &\n")
		d.Expect("started")
		wantTaken(d.t, d.server)
		job := childOf(d.t, d.Pid())
		syscall.Kill(job, syscall.SIGTSTP)
		until(d.t, "the stop of each thread", func() bool { return allStopped(job) }) // then the shell learns of it
		d.shell()
		d.Type("fg\n")
		d.program("sleep")
		d.interrupt()
	})
}

// The script's shell has no job control, so it is stopped with the rest, as
// without redlockrun, and continued with it.
func TestAtATerminalCtrlZStopsTheWholeJob(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		d.Type("script redlockrun -k job cat\n")
		d.suspendCat()
		d.Expect("the script goes on")
		d.shell()
	})
}

func TestAtATerminalAScriptWhoseCommandReadsInTheBackgroundIsStopped(t *testing.T) {
	d := bash(t)
	d.Type("set -b; script redlockrun -k job cat &\n")
	d.Expect("Stopped")
	d.Type("fg\n")
	d.program("cat")
	d.cat("one")
	d.Type(ptytest.CtrlD)
	d.Expect("the script goes on")
	d.shell()
}

// While the job is suspended its lease ends: nothing of it goes on.
func TestAtATerminalALockThatIsLostWhileTheScriptIsSuspendedEndsTheCommand(t *testing.T) {
	d := bash(t)
	d.Type("script redlockrun -k job --ttl 3 cat\n")
	d.program("cat")
	d.suspend()
	wantNoLock(t, d.server)
	d.Type("fg\n")
	d.Expect("the command was stopped")
	d.Expect("the script goes on")
	d.shell()
}

// With stty tostop a write from the background is a request for the terminal.
func TestAtATerminalMessagesStopNoProcess(t *testing.T) {
	d := bash(t)
	d.Type("stty tostop; redlockrun -k job --ttl 3 --on-lost continue cat\n")
	cat := d.program("cat")
	wantTaken(t, d.server)
	free(t, d.server)
	d.Expect("continues without it")
	if owner := d.Foreground(); owner != cat {
		t.Errorf("group %d has the terminal, cat is %d", owner, cat)
	}
	d.cat("one")
	d.Type(ptytest.CtrlD)
	d.shell()
}

func TestAtATerminalOwnMessagesDoNotStopAWaitInTheBackground(t *testing.T) {
	d := bash(t)
	occupy(t, d.server)
	d.Type("stty tostop; redlockrun -k job --wait forever -v touch $D/ran &\n")
	d.Expect("waiting for it")
	free(t, d.server)
	until(t, "the command", func() bool { return exists(filepath.Join(d.dir, "ran")) })
	d.shell()
}

func TestAtATerminalCtrlCWhileWaitingEndsALoop(t *testing.T) {
	d := bash(t)
	occupy(t, d.server)
	d.Type("for i in 1 2 3; do redlockrun -k job --wait forever -v true; done\n")
	d.Expect("in the queue")
	d.Type(ptytest.CtrlC)
	d.Expect("nothing was run")
	d.shell()
	if n := strings.Count(d.Output(), "nothing was run"); n != 1 {
		t.Errorf("%d runs were ended, want 1", n)
	}
	d.Type("redlockrun -k job --wait forever -v true; echo st''atus=$?\n")
	d.Expect("in the queue")
	d.interrupt()
	if strings.Contains(d.Output(), "status=") {
		t.Error("it did not end by SIGINT itself")
	}
}

// These programs show their progress only to the foreground group.
func TestAtATerminalProgressIsShown(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	const size = 64 << 20
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "big", time.Time{}, io.NewSectionReader(zeroes{}, 0, size))
	}))
	t.Cleanup(web.Close)
	for line, shown := range map[string]string{
		"wget -O /dev/null " + web.URL:      "100%[=",
		"pv $D/big >/dev/null":              "100%",
		"rsync --progress $D/big $D/copy":   "  0% ", // the end is shown in any case
		"git clone file://$D/repo $D/clone": "Receiving objects:  50%",
	} {
		t.Run(strings.Fields(line)[0], func(t *testing.T) {
			d := bash(t)
			if err := os.Truncate(writeFile(t, filepath.Join(d.dir, "big")), size); err != nil {
				t.Fatal(err)
			}
			repository(t, filepath.Join(d.dir, "repo"))
			d.Type("redlockrun -k job " + line + "; echo st''atus=$?\n")
			if said := d.Expect("status=0"); !strings.Contains(said, shown) {
				t.Errorf("%q is not in %q", shown, said)
			}
		})
	}
}

// zeroes is a file that is as long as one likes.
type zeroes struct{}

func (zeroes) ReadAt(p []byte, _ int64) (int, error) { clear(p); return len(p), nil }

func writeFile(t *testing.T, path string) string {
	t.Helper()
	touch(t, path)
	return path
}

// repository makes a git repository with enough objects for each per cent to be shown.
func repository(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), []byte(strconv.Itoa(n)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@b commit -q -m all"} {
		cmd := exec.Command("git", append([]string{"-C", dir}, strings.Fields(args)...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
}

// typeHanging types a command whose execve hangs until file comes, and waits until it does.
func (d *shellSession) typeHanging() (file *pendingFile) {
	d.t.Helper()
	file, path := newPendingSecondInterpreter(d.t)
	d.Type("redlockrun -k job " + path + "\n")
	until(d.t, "the opening of the file", file.opened)
	return file
}

// What hangs between fork and execve has the terminal already.
func TestAtATerminalKeysArriveWhileExecveHangs(t *testing.T) {
	t.Parallel()
	t.Run("Ctrl-Z", func(t *testing.T) {
		d := bash(t)
		file := d.typeHanging()
		d.Type(ptytest.CtrlZ)
		d.Expect("^Z") // the signal has been sent
		file.arrive()
		d.shell()
		d.Type("fg\n")
		until(t, "the command", func() bool { return exists(file.file.Name() + ".ran") })
		d.shell()
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		d := bash(t)
		file := d.typeHanging()
		d.interrupt()
		file.arrivesUnwanted()
	})
}

// Ctrl-Z comes at any moment of the start.
func TestAtATerminalCtrlZAtAnyMomentStopsTheJob(t *testing.T) {
	d := bash(t)
	for n := range 40 {
		d.Type("redlockrun -k job cat\n")
		d.program("redlockrun", "cat") // before, bash's child would lose it
		for range n * 20 {             // later each time: 20 reads of /proc are about 0.3 ms
			stateOf(d.Pid())
		}
		d.suspend()
		d.Type("fg\n")
		d.program("cat")
		d.cat("n" + strconv.Itoa(n))
		d.Type(ptytest.CtrlD)
		d.shell()
	}
}

// The shell lives and has the terminal again, whatever ends redlockrun.
func TestAtATerminalTheShellSurvives(t *testing.T) {
	eachShell(t, func(d *shellSession) {
		for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGSEGV} {
			d.Type("redlockrun -k job sleeper\n")
			sleep := d.program("sleep")
			syscall.Kill(parentOf(d.t, sleep), sig)
			d.shell()
			until(d.t, "the end of the command", func() bool { return stateOf(sleep) == 0 || stateOf(sleep) == 'Z' })
			free(d.t, d.server)
		}
		for n := range 10 {
			d.Type("redlockrun -k job" + strconv.Itoa(n) + " whose &\n")
			d.Expect("has it not")
		}
		d.shell()
	})
}

func allStopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, thread := range threads {
		if id, _ := strconv.Atoi(filepath.Base(thread)); stateOf(id) != 'T' {
			return false
		}
	}
	return len(threads) > 0
}

func childOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.Fields(string(text))[0])
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	parent, err := strconv.Atoi(strings.Fields(rest)[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// Ctrl-C ends all attempts. A command that dies of it ends a loop, too; one that exits with 130
// does not, as without redlockrun.
func TestAtATerminalCtrlCEndsAllAttempts(t *testing.T) {
	d := bash(t)
	const (
		loop = "for i in 1 2 3; do redlockrun -k job --attempts 3 --attempt-delay "
		once = "redlockrun -k job --attempts 3 --attempt-delay "
	)
	for _, c := range []struct{ line, says string }{
		{loop + "0 sleeper; done", "started"},
		{loop + "600 sh -c 'exit 3'; done", "attempt 2 of 3"},
		{once + `0 sh -c 'trap "exit 130" INT; echo c""ut me; while :; do sleep 0.05; done'`, "cut me"},
	} {
		d.Type(c.line + "\n")
		d.Expect(c.says)
		d.interrupt()
		if n := strings.Count(d.Output(), c.says); n != 1 {
			d.t.Errorf("%s: it was said %d times", c.line, n)
		}
	}
}

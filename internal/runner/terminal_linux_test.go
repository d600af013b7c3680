package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/proof/ptytest"

	"golang.org/x/sys/unix"
)

// In these tests a user types at an interactive shell. $W runs the wrapper, so that
// its command has the terminal from the start, and $S $W in a script, so that it has
// not; $D is a directory for files, and what a command says about itself is spelt so that it
// differs from what was typed.

// Two ways for a shell to wait for ever. A trap runs with both, but dash, the
// usual sh, has its own races: while it forks by vfork(2) a stop reaches its child alone
// and SIGINT is lost there, and a trap that comes just before it reads waits for the read.
const (
	looping = `echo rea""dy; while :; do sleep 0.02; done`                  // for traps
	reading = `exec 8<>$D/fifo; echo rea""dy; while :; do read x <&8; done` // for stops
)

// atShell starts an interactive shell with $W for a wrapper that is played by s.
func atShell(t *testing.T, s script) (*ptytest.Terminal, string) {
	t.Helper()
	dir := t.TempDir()
	s.Log = filepath.Join(dir, "log")
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrapper := filepath.Join(dir, "wrapper")
	place(t, wrapper, "#!/bin/sh\nexec "+shellQuote(wrapped(s)...)+` "$@"`+"\n", 0o755)
	place(t, filepath.Join(dir, "script"), "#!/bin/sh\ntrap : INT\n\"$@\"\nexit $?\n", 0o755)
	return ptytest.Shell(t, "W="+wrapper, "S="+filepath.Join(dir, "script"), "D="+dir), dir
}

// foreground types a line and waits until the shell has given the terminal to a job.
func foreground(t *testing.T, term *ptytest.Terminal, line string) {
	t.Helper()
	shell := term.Foreground()
	term.Type(line)
	eventually(t, "a job has the terminal", func() bool { return term.Foreground() != shell })
}

// suspend types Ctrl-Z, and waits for the shell.
func suspend(term *ptytest.Terminal) {
	term.Type(ptytest.CtrlZ)
	term.Expect("Stopped")
	term.Expect("$ ")
}

// expectStatus waits for the shell, and for the status of the job before.
func expectStatus(term *ptytest.Terminal, status int) {
	term.Expect("$ ")
	term.Type("echo status=$?\n")
	term.Expect(fmt.Sprint("status=", status))
}

func TestCtrlCArrivesOnce(t *testing.T) {
	const counting = `n=0; trap 'n=$((n+1)); echo i""nt' INT; trap 'echo count=$n; exit' TERM; ` + looping
	for what, c := range map[string]struct{ wrapper, text string }{
		"terminal given":         {"$W", counting},
		"terminal not asked for": {"$S $W", counting},
		"terminal asked for":     {"$S $W", "read x; " + counting},
	} {
		term, dir := atShell(t, script{})
		term.Type(c.wrapper + ` sh -c 'echo $$ >$D/pid; ` + strings.ReplaceAll(c.text, "'", `'\''`) + "'\n")
		command := pidIn(t, filepath.Join(dir, "pid"))
		if strings.HasPrefix(c.text, "read") {
			eventually(t, "the command has the terminal", func() bool { return term.Foreground() == command })
			term.Type("line\n")
		}
		term.Expect("ready")
		for range 3 {
			term.Type(ptytest.CtrlC)
			term.Expect("int")
		}
		if err := unix.Kill(command, unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got := term.Expect("$ "); !strings.Contains(got, "count=3") {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestCtrlCStopsALoop(t *testing.T) {
	for what, loop := range map[string]string{
		"interactive": `for i in 1 2 3; do $W sh -c 'echo sta""rted; exec sleep 1000'; done`,
		"interactive, terminal asked for": `for i in 1 2 3; do $W sh -c 'read y <<E` + "\nE\n" +
			`stty sane; echo sta""rted; exec sleep 1000'; done`,
		"in a script": `bash -c 'for i in 1 2 3; do $W sh -c "echo sta\"\"rted; exec sleep 1000"; done'`,
		"in a script, terminal asked for": `bash -c 'for i in 1 2 3; do` +
			` $W sh -c "stty sane; echo sta\"\"rted; read x"; done'`,
		"in a sh script, terminal asked for": `sh -c 'for i in 1 2 3; do` +
			` $W sh -c "stty sane; echo sta\"\"rted; read x"; done'`,
	} {
		t.Run(what, func(t *testing.T) {
			term, _ := atShell(t, script{})
			term.Type(loop + "\n")
			term.Expect("started")
			term.Type(ptytest.CtrlC)
			term.Expect("$ ")
			term.Type("echo after=$?\n")
			if got := term.Expect("after=1"); strings.Contains(got, "started") {
				t.Errorf("the loop went on: %q", got)
			}
			if got := term.Expect("$ "); !strings.HasPrefix(got, "30") {
				t.Errorf("status 1%q, want 130", got)
			}
		})
	}
}

func TestSIGINTFromAnotherProcessReachesTheShell(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type(`$W sh -c 'kill -INT $$'; echo status=$?` + "\n")
	// bash forgets the rest of the line after a command that SIGINT ended.
	term.Expect("\n")
	term.Expect("$ ")
	term.Type("echo then=$?\n")
	term.Expect("then=130")
}

// A namespace entered from outside: the foreground group has the number 0 there.
func TestSIGINTIsRaisedAgainInANamespaceToo(t *testing.T) {
	term, _ := atShell(t, script{NoGuard: true})
	enter := "unshare --pid --fork --kill-child --mount-proc "
	if os.Getuid() != 0 {
		enter += "--user --map-root-user "
	}
	term.Type(enter + `perl -e 'system @ARGV; printf "en%s by %d\n", "ded", $? & 127' $W sh -c 'kill -INT $$'` + "\n")
	term.Expect("ended by 2")
}

func TestReadGetsTheTerminal(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type(`$S $W sh -c 'read x; echo got:$x'; echo status=$?` + "\n")
	term.Type("hello\n")
	term.Expect("got:hello")
	term.Expect("status=0")
	term.Type(`read y; echo shell:$y` + "\n")
	term.Type("again\n")
	term.Expect("shell:again")
}

func TestCtrlZSuspendsAndFgResumes(t *testing.T) {
	term, dir := atShell(t, script{})
	log := filepath.Join(dir, "log")
	term.Type("$S $W cat\n")
	term.Type("one\n")
	term.Expect("one\r\none")
	for n := 1; n <= 3; n++ {
		suspend(term)
		if got := count(log, "parked"); got != n {
			t.Errorf("parked %d times, want %d", got, n)
		}
		term.Type("fg\n")
		eventually(t, "it is resumed", func() bool { return count(log, "resumed") == n })
		term.Type("two\n")
		term.Expect("two\r\ntwo")
	}
	term.Type(ptytest.CtrlD)
	expectStatus(term, 0)
}

// The command never asks for the terminal, so Ctrl-Z reaches it through the wrapper.
func TestCtrlZSuspendsACommandWithoutTheTerminal(t *testing.T) {
	term, dir := atShell(t, script{})
	term.Type(`$S $W sh -c 'echo $$ >$D/pid; ` + reading + "'\n")
	term.Expect("ready")
	command := pidIn(t, filepath.Join(dir, "pid"))
	suspend(term)
	wrapper, _ := strconv.Atoi(statOf(command)[1])
	for _, pid := range []int{command, wrapper} {
		eventually(t, fmt.Sprintf("process %d is stopped", pid), func() bool { return stateOf(pid) == 'T' })
	}
	term.Type("bg\n")
	eventually(t, "the command goes on", func() bool { return stateOf(command) != 'T' })
	foreground(t, term, "fg\n")
	term.Type(ptytest.CtrlC)
	expectStatus(term, 130)
}

func TestACommandCanEndWhileSuspended(t *testing.T) {
	term, dir := atShell(t, script{})
	term.Type(`$W sh -c 'echo rea""dy; exec sleep 1000'` + "\n")
	term.Expect("ready")
	suspend(term)
	term.Type("kill %1\n")
	eventually(t, "the command is ended", func() bool {
		return hasPrefix(filepath.Join(dir, "log"), "ended: code 143 signal 15 stopped <nil>")
	})
}

// The lease has lapsed while the job was suspended: it never goes on.
func TestACommandWhoseLockIsLostWhileSuspendedDoesNotContinue(t *testing.T) {
	term, dir := atShell(t, script{Lost: true})
	term.Type(`$W sh -c 'trap "echo con\"\"tinued >>$D/cont" CONT; ` + reading + "'\n")
	term.Expect("ready")
	suspend(term)
	term.Type("fg\n")
	eventually(t, "the command is ended", func() bool {
		return hasPrefix(filepath.Join(dir, "log"), "ended: code 137 signal 9 stopped stop command: lost")
	})
	if _, err := os.Stat(filepath.Join(dir, "cont")); err == nil {
		t.Error("the command was continued")
	}
}

func TestASelfStopWithTheTerminalStopsTheJob(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type(`$W sh -c 'stty sane; kill -STOP $$; echo con""tinued'` + "\n")
	term.Expect("Stopped")
	term.Expect("$ ")
	term.Type("fg\n")
	term.Expect("continued")
	term.Expect("$ ")
}

// Another process that stops the command may continue it at any time: the run keeps the lock.
func TestAStopByAnotherProcessIsNotParked(t *testing.T) {
	dir := t.TempDir()
	log, pid := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
	const waits = `trap 'exit 5' USR1; echo $$ >"$0"; while :; do sleep 0.02; done`
	cmd := launch(t, wrapped(script{Log: log}, "/bin/sh", "-c", waits, pid)...)
	command := pidIn(t, pid)
	freeze(t, command)
	thaw(t, command)
	send(t, cmd, unix.SIGUSR1)
	if c := code(t, cmd); c != 5 || hasLine(log, "parked") {
		t.Errorf("status %d, %q", c, lines(log))
	}
}

// In a script the shell that has no job control stops at once, and its job can be
// continued before the wrapper stands still.
func TestACommandContinuedWhileItStopsDoesNotStop(t *testing.T) {
	dir := t.TempDir()
	log, pid := filepath.Join(dir, "log"), filepath.Join(dir, "pid")
	cmd := launch(t, wrapped(script{Log: log, Slow: true}, "/bin/sh", "-c", `echo $$ >"$0"; exec sleep 1000`, pid)...)
	pidIn(t, pid)
	send(t, cmd, unix.SIGTSTP)
	eventually(t, "the command is stopped", func() bool { return hasLine(log, "parked") })
	send(t, cmd, unix.SIGCONT)
	eventually(t, "it is resumed", func() bool { return hasLine(log, "resumed") })
	send(t, cmd, unix.SIGTERM)
	if c := code(t, cmd); c != 143 {
		t.Errorf("status %d", c)
	}
}

func TestAPipelineIntoLessWorks(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type(`$W seq 1 100000 | less; echo status=$?` + "\n")
	term.Expect("\n20\r")
	term.Type(" ")
	term.Expect("\n40\r")
	term.Type("q")
	term.Expect("status=0")
	term.Expect("$ ")
}

func TestLessHasTheTerminal(t *testing.T) {
	term, dir := atShell(t, script{})
	numbers := ""
	for range 200 {
		numbers += "a line of the file\n"
	}
	place(t, filepath.Join(dir, "file"), numbers+"the last line\n", 0o644)
	term.Type("$W less $D/file\n")
	term.Expect("a line of the file")
	term.Type("G")
	term.Expect("(END)")
	less := term.Foreground()
	eventually(t, "less reads", func() bool { return stateOf(less) == 'S' }) // before, it would miss a signal
	term.Type(ptytest.CtrlZ)
	term.Expect("Stopped")
	term.Type("fg\n")
	term.Expect("the last line")
	term.Type("q")
	expectStatus(term, 0)
}

func TestViWritesAFile(t *testing.T) {
	term, dir := atShell(t, script{})
	file := filepath.Join(dir, "text")
	term.Type("$W vi -u NONE -i NONE -n $D/text\n")
	term.Expect("~")
	term.Type("ihello")
	term.Expect("hello")
	term.Type(ptytest.Escape + ptytest.CtrlZ)
	term.Expect("Stopped")
	term.Type("fg\n")
	term.Expect("hello")
	term.Type(":wq\r")
	eventually(t, "the file is written", func() bool { return hasLine(file, "hello") })
	expectStatus(term, 0)
}

func TestABackgroundRunDoesNotTakeTheTerminal(t *testing.T) {
	term, dir := atShell(t, script{})
	term.Type(`$W sh -c 'echo $$ >$D/pid; exec sleep 1000' &` + "\n")
	command := pidIn(t, filepath.Join(dir, "pid"))
	term.Expect("$ ")
	term.Type("echo al''ive\n")
	term.Expect("alive")
	if term.Foreground() != term.Pid() {
		t.Error("the shell is not in the foreground")
	}
	term.Type("kill %1; wait %1; echo status=$?\n")
	term.Expect("status=143")
	if !exited(command) {
		t.Error("the command still runs")
	}
}

func TestABackgroundReaderIsStopped(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type("set -b; $W cat &\n")
	term.Expect("Stopped")
	foreground(t, term, "fg\n")
	term.Type("line\n")
	term.Expect("line\r\nline")
	term.Type(ptytest.CtrlD)
	term.Expect("$ ")
}

func TestCtrlBackslashArrives(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type(`$W sh -c 'ulimit -c 0; ` + looping + "'\n")
	term.Expect("ready")
	term.Type(ptytest.CtrlBackslash)
	expectStatus(term, 131)
}

func TestTheWindowSizeArrives(t *testing.T) {
	term, _ := atShell(t, script{})
	for n, wrapper := range []string{"$W", "$S $W"} {
		term.Type(wrapper + ` sh -c 'trap "stty size; exit" WINCH; ` + looping + "'\n")
		term.Expect("ready")
		term.Resize(33, uint16(101+n))
		term.Expect(fmt.Sprint("33 ", 101+n))
		expectStatus(term, 0)
	}
}

func TestAnInteractiveShellWorksInside(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type("PS1='in''ner> ' $W bash --norc --noprofile --noediting -i\n")
	term.Expect("inner> ")
	foreground(t, term, "sleep 1000\n")
	eventually(t, "sleep sleeps", func() bool {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", term.Foreground()))
		return string(comm) == "sleep\n" && stateOf(term.Foreground()) == 'S'
	})
	term.Type(ptytest.CtrlZ)
	term.Expect("Stopped")
	term.Expect("inner> ")
	term.Type("kill %1; fg; exit 7\n")
	expectStatus(term, 7)
}

// A terminal that makes writing from the background a request for it (stty
// tostop) is asked for by the first line.
func TestAWriterGetsTheTerminal(t *testing.T) {
	term, _ := atShell(t, script{})
	term.Type(`stty tostop; $S $W sh -c 'echo hel""lo'; echo status=$?` + "\n")
	term.Expect("hello")
	term.Expect("status=0")
}

// The wrapper leads its session, as after `ssh -t host redlockrun ...`: no shell could continue
// it, so Ctrl-Z stops nothing for good.
func TestWithoutAJobControlShellNothingHangs(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	term := ptytest.Start(t, nil, wrapped(script{Log: log}, "cat")...)
	term.Type("one\n")
	term.Expect("one\r\none")
	term.Type(ptytest.CtrlZ)
	eventually(t, "the stop is over", func() bool { return hasLine(log, "resumed") })
	term.Type("two\n")
	term.Expect("two\r\ntwo")
	term.Type(ptytest.CtrlD)
	if c := term.Wait(); c != 0 {
		t.Errorf("status %d", c)
	}
}

// A hangup of the line reaches the command, which may go on without a terminal.
func TestATerminalHangupArrives(t *testing.T) {
	term, dir := atShell(t, script{})
	term.Type(`$W sh -c 'trap "echo hup >$D/hup; exit 3" HUP; ` + looping + "'\n")
	term.Expect("ready")
	term.Hangup()
	eventually(t, "the command got SIGHUP", func() bool { return hasLine(filepath.Join(dir, "hup"), "hup") })
	eventually(t, "the wrapper ended", func() bool { return hasPrefix(filepath.Join(dir, "log"), "ended: code 3 ") })
}

package runner_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/proof/ptytest"

	"golang.org/x/sys/unix"
)

// whereAmI says on stderr whether this process's group has the terminal.
const whereAmI = `sh -c 'set -- $(cat /proc/$$/stat); [ $5 = $8 ] && echo fore""ground >&2 || echo back""ground >&2'`

// The streams of the caller decide, not the pipe that stands in for one.
func TestCopiedOutputDoesNotChangeWhoGetsTheTerminal(t *testing.T) {
	for _, copied := range []bool{false, true} {
		term, _ := atShell(t, script{Copied: copied})
		for line, want := range map[string]string{
			"$W " + whereAmI:                 "foreground",
			"$W " + whereAmI + " >/dev/null": "foreground",
			"$W " + whereAmI + " | cat":      "background",
			"$S $W " + whereAmI:              "background",
		} {
			term.Type(line + "; echo sta''tus=$?\n")
			if got := term.Expect("status=0"); !strings.Contains(got, want) {
				t.Errorf("copied: %v, %s: got %q, want %s", copied, line, got, want)
			}
		}
	}
}

// A command that asks for the terminal gets it, and Ctrl-Z and fg work, when its output is copied.
func TestACommandWhoseOutputIsCopiedReadsFromTheTerminal(t *testing.T) {
	term, _ := atShell(t, script{Copied: true})
	term.Type(`$W sh -c 'echo rea""dy >&2; read x; echo got:$x >&2' | cat; echo status=$?` + "\n")
	term.Expect("ready")
	term.Type("line\n")
	term.Expect("got:line")
	term.Expect("status=0")
	foreground(t, term, "$W cat >/dev/null\n")
	suspend(term)
	term.Type("fg\n")
	term.Expect("cat")
	term.Type(ptytest.CtrlD)
	expectStatus(term, 0)
}

// Each pipe whose copy has no reader keeps a thread. Nevertheless a signal arrives, although the
// command has used up all processes that are allowed.
func TestOutputThatNobodyReadsHoldsUpNoSignal(t *testing.T) {
	cmd := &exec.Cmd{}
	asSomebody(t, cmd)
	dir := filepath.Dir(cmd.Path)
	full, fifo := filepath.Join(dir, "full"), filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	begin, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer begin.Close()
	const (
		limited = `ulimit -u 40 2>/dev/null || ulimit -p 40 || exit 98; exec "$@"`
		fill    = `{ read go <"$1"; exec head -c 200000 /dev/zero; } &
			{ read go <"$1"; exec head -c 200000 /dev/zero >&2; } &
			trap ': >"$0"; exec sleep 600' EXIT; exec 2>/dev/null; while :; do sleep 600 & done`
	)
	words := wrapped(script{Copied: true}, "/bin/sh", "-c", fill, full, fifo)
	cmd.Args = append([]string{"/bin/sh", "-c", limited, "sh", cmd.Path}, words[1:]...)
	cmd.Path = cmd.Args[0]
	var reads []*os.File
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		defer write.Close()
		reads, *stream = append(reads, read), write
	}
	free := func() bool { return !anyProcessOf(somebody) }
	eventually(t, "the user has no process", free)
	start(t, cmd)
	eventually(t, "there are all processes that may be", func() bool { return exists(full) })
	if _, err := begin.WriteString("go\ngo\n"); err != nil {
		t.Fatal(err)
	}
	for _, read := range reads {
		eventually(t, "a pipe is full", func() bool { return inPipe(t, read) == 64<<10 })
	}
	send(t, cmd, unix.SIGTERM)
	for _, read := range reads {
		go func() { _, _ = io.Copy(io.Discard, read) }()
	}
	if c := code(t, cmd); c != 143 {
		t.Errorf("status %d", c)
	}
	eventually(t, "nothing of it is left", free)
}

func inPipe(t *testing.T, f *os.File) (bytes int) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) { bytes, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

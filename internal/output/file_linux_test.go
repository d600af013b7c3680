package output_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/ptytest"

	"golang.org/x/sys/unix"
)

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheEndOfAFileIsReadBack(t *testing.T) {
	const before = "what stood there before\n"
	long := strings.Repeat("x", 5000) + "\n"
	const added = os.O_WRONLY | os.O_APPEND
	for what, c := range map[string]struct {
		flags int
		text  string             // runs as the command
		after func(string) error // is done to the file before its end is read
		want  string
		total int64
	}{
		"appended to":               {added, "echo new", nil, "new\n", 4},
		"nothing":                   {added, "true", nil, "", 0},
		"more than is kept":         {added, "printf '%5000s\\n' | tr ' ' x", nil, long[len(long)-1024:], 5001},
		"read and written":          {os.O_RDWR | os.O_APPEND, "echo new", nil, "new\n", 4},
		"without rights":            {added, "echo new", unreadable, "new\n", 4},
		"unlinked":                  {added, "echo new", os.Remove, "new\n", 4},
		"truncated by copytruncate": {added, "echo old; : >$F; echo new", nil, "new\n", 4},
	} {
		t.Run(what, func(t *testing.T) {
			path, file := originalFile(t, before, c.flags)
			tap := tapped(t, file, null(t), 1<<10)
			cmd := shell(tap, c.text)
			cmd.Env = append(os.Environ(), "F="+path)
			run(t, cmd)
			if c.after != nil {
				if err := c.after(path); err != nil {
					t.Fatal(err)
				}
			}
			finish(t, tap)
			if tail := tap.Tail(); string(tail.Text) != c.want || tail.Total != c.total || tail.Err != nil {
				t.Errorf("got %q of %d, %v", tail.Text, tail.Total, tail.Err)
			}
		})
	}
}

func unreadable(path string) error { return os.Chmod(path, 0o200) }

// One file for both streams is read once.
func TestAFileForBothStreamsIsReadOnce(t *testing.T) {
	path, stdout := originalFile(t, "", os.O_WRONLY|os.O_APPEND)
	again := open(t, path, os.O_WRONLY|os.O_APPEND)
	for what, stderr := range map[string]*os.File{"the same": stdout, "opened twice": again} {
		tap := tapped(t, stdout, stderr, 1<<10)
		run(t, shell(tap, "echo out; echo err >&2"))
		finish(t, tap)
		if tail := tap.Tail(); string(tail.Text) != "out\nerr\n" || tail.Total != 8 {
			t.Errorf("%s: got %q of %d", what, tail.Text, tail.Total)
		}
	}
}

// Two streams that have no common order stand one after the other, and share the room.
func TestStdoutStandsBeforeStderr(t *testing.T) {
	x, y := strings.Repeat("x", 2000), strings.Repeat("y", 2000)
	for _, c := range []struct{ stdout, stderr, want string }{
		{x, y, x[:512] + y[:512]},
		{x, "short", x[:1019] + "short"},
		{"short", y, "short" + y[:1019]},
		{"out", "err", "outerr"},
	} {
		for what, isFile := range map[string][2]bool{
			"files": {true, true}, "a file and a pipe": {true, false}, "a pipe and a file": {false, true},
		} {
			stdout, stderr := null(t), null(t)
			if isFile[0] {
				_, stdout = originalFile(t, "", os.O_WRONLY)
			}
			if isFile[1] {
				_, stderr = originalFile(t, "", os.O_WRONLY)
			}
			tap := tapped(t, stdout, stderr, 1<<10)
			run(t, command(tap, "/bin/sh", "-c", `printf %s "$0"; printf %s "$1" >&2`, c.stdout, c.stderr))
			finish(t, tap)
			if tail := tap.Tail(); string(tail.Text) != c.want || tail.Total != int64(len(c.stdout)+len(c.stderr)) {
				t.Errorf("%s: got %d bytes of %d: %q", what, len(tail.Text), tail.Total, tail.Text)
			}
		}
	}
}

// A file that this user may not read is reported, and nothing else changes.
func TestAFileThatMayNotBeReadIsTold(t *testing.T) {
	ability.Need(t, ability.Users)
	path, file := originalFile(t, "", os.O_WRONLY|os.O_APPEND)
	tap := tapped(t, file, file, 1<<10)
	run(t, shell(tap, "echo new"))
	if err := os.Chmod(path, 0o200); err != nil {
		t.Fatal(err)
	}
	var tail struct {
		total int64
		err   error
	}
	asNobody(t, func() { got := tap.Tail(); tail.total, tail.err = got.Total, got.Err })
	if tail.total != 4 || tail.err == nil || !strings.HasSuffix(tail.err.Error(), "permission denied") {
		t.Errorf("got %+v", tail)
	}
}

func TestWhatIsLeftAlone(t *testing.T) {
	_, datagram := originalSocket(t, unix.SOCK_DGRAM)
	_, packets := originalSocket(t, unix.SOCK_SEQPACKET)
	read, _ := originalPipe(t)
	_, file := originalFile(t, "", os.O_RDONLY)
	for what, f := range map[string]*os.File{
		"a datagram socket": datagram, "a seqpacket socket": packets, "a pipe's end for reading": read,
		"a file for reading": file, "a directory": open(t, t.TempDir(), os.O_RDONLY),
	} {
		tap := tapped(t, f, f, 1<<10)
		if tap.Stdout() != f || tap.Stderr() != f || tap.Threads() != 0 {
			t.Errorf("%s is not left alone", what)
		}
		finish(t, tap)
		if tail := tap.Tail(); len(tail.Text) != 0 || tail.Total != 0 || tail.Err != nil {
			t.Errorf("%s: got %+v", what, tail)
		}
	}
}

func TestATerminalIsLeftAlone(t *testing.T) {
	term := ptytest.Start(t, nil, "cat")
	slave := open(t, "/proc/"+strconv.Itoa(term.Pid())+"/fd/1", os.O_WRONLY|unix.O_NOCTTY)
	tap := tapped(t, slave, null(t), 1<<10)
	if tap.Stdout() != slave || tap.Threads() != 1 {
		t.Error("it is not left alone")
	}
	run(t, shell(tap, "test -t 1 && echo hello; echo err >&2"))
	term.Expect("hello")
	finish(t, tap)
	if got := string(tap.Tail().Text); got != "err\n" {
		t.Errorf("got %q", got)
	}
}

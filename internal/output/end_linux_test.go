package output_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process left behind that writes without end: what is read of it is bounded, it is named, and
// its next write ends it.
func TestAYesThatIsLeftBehind(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 1<<10)
	pid := filepath.Join(t.TempDir(), "pid")
	first := make([]byte, 2)
	run(t, shell(tap, "yes & echo $! >"+pid))
	if _, err := read.Read(first); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pipe is full", func() bool { return full(t, tap.Stdout()) })
	before := tap.Tail().Total
	began := time.Now()
	if !tap.End() {
		t.Error("nobody is left")
	}
	took := time.Since(began)
	if more := tap.Tail().Total - before; more < 64<<10 || more > 2*64<<10 {
		t.Errorf("%d bytes were read after the end", more)
	}
	if took > 5*time.Second { // 100 ms, on a machine that does nothing else
		t.Errorf("it took %v", took)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	yes := strings.TrimSpace(string(text))
	eventually(t, "it is gone", func() bool { return stateOf(yes) == 0 })
	go func() { _ = readFast(discard{}, read) }()
	if err := tap.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

type discard struct{}

func (discard) Write(data []byte) (int, error) { return len(data), nil }

// stateOf is the state letter of a process, 0 if it has ended.
func stateOf(pid string) byte {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	if after == "" || after[0] == 'Z' {
		return 0
	}
	return after[0]
}

// One that writes nothing holds up the end for a moment, and is named.
func TestASilentProcessThatIsLeftBehindIsNamed(t *testing.T) {
	tap := tapped(t, null(t), null(t), 1<<10)
	fifo := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	release := open(t, fifo, os.O_RDWR)
	run(t, shell(tap, "{ read x; echo late; echo done >&3; } <"+fifo+" 3>"+fifo+".done & echo $!"))
	began := time.Now()
	if !tap.End() {
		t.Fatal("nobody is left")
	}
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("it waited for %v", took)
	}
	tail := string(tap.Tail().Text)
	pid := strings.TrimSpace(tail)
	holders := tap.Holders(t.Context())
	if len(holders) != 1 || !slices.Contains(holders, atoi(t, pid)) {
		t.Errorf("%v hold the pipe, %s is left", holders, pid)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := tap.Holders(ended); len(got) != 0 {
		t.Errorf("it looked on for %v", got)
	}
	if _, err := release.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its next write ended it", func() bool { return stateOf(pid) == 0 })
	if done, err := os.ReadFile(fifo + ".done"); err != nil || len(done) != 0 {
		t.Errorf("it went on after its write: %q, %v", done, err)
	}
	if got := string(tap.Tail().Text); got != tail {
		t.Errorf("got %q", got)
	}
}

// What ends right after the command is waited for, as the tee of a shell is.
func TestAStragglerIsWaitedFor(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 1<<10)
	fifo := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	release := open(t, fifo, os.O_RDWR)
	run(t, shell(tap, "{ read x; echo late; } <"+fifo+" & echo first"))
	if _, err := release.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	got := readAll(read)
	finish(t, tap)
	tap.Close()
	write.Close()
	if got.wait(t) != "first\nlate\n" || string(tap.Tail().Text) != "first\nlate\n" {
		t.Errorf("%q, %q", got.text, tap.Tail().Text)
	}
}

func TestEachAttemptBeginsAnew(t *testing.T) {
	read, write := originalPipe(t)
	path, file := originalFile(t, "", os.O_WRONLY|os.O_APPEND)
	tap := tapped(t, write, file, 1<<10)
	stdout := tap.Stdout()
	run(t, shell(tap, "echo one; echo err one >&2"))
	tap.Begin()
	if tail := tap.Tail(); tail.Total != 0 || len(tail.Text) != 0 {
		t.Errorf("got %+v", tail)
	}
	if tap.Stdout() != stdout {
		t.Error("the pipe is another one")
	}
	run(t, shell(tap, "echo two; echo err two >&2"))
	got := readAll(read)
	finish(t, tap)
	if tail := tap.Tail(); string(tail.Text) != "two\nerr two\n" || tail.Total != 12 {
		t.Errorf("got %q of %d", tail.Text, tail.Total)
	}
	tap.Close()
	write.Close()
	if got.wait(t) != "one\ntwo\n" {
		t.Errorf("got %q", got.text)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "err one\nerr two\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// What an earlier attempt has written is copied, however late, and not kept.
func TestWhatAnEarlierAttemptWroteIsNotKept(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 64<<10)
	in := func(f *os.File) int { bytes, _ := waiting(t, f); return bytes }
	run(t, command(tap, "head", "-c", "65536", "/dev/zero"))
	eventually(t, "the original is full", func() bool { return full(t, read) })
	run(t, command(tap, "printf", "x"))
	eventually(t, "a byte is on its way", func() bool { return in(tap.Stdout()) == 0 })
	run(t, command(tap, "head", "-c", "1000", "/dev/zero"))
	if n := in(tap.Stdout()); n != 1000 {
		t.Errorf("%d bytes are in the pipe", n)
	}
	tap.Begin()
	if _, err := io.ReadFull(read, make([]byte, 65536+1+1000)); err != nil {
		t.Fatal(err)
	}
	run(t, shell(tap, "echo two"))
	finish(t, tap)
	if tail := tap.Tail(); string(tail.Text) != "two\n" || tail.Total != 4 {
		t.Errorf("got %q of %d", tail.Text, tail.Total)
	}
}

// Messages of the program's own come between the lines of the command.
func TestAMessageComesBetweenLines(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, null(t), write, 1<<10)
	insert := func(text string) {
		tap.Insert(func() {
			if _, err := write.WriteString(text); err != nil {
				t.Error(err)
			}
		})
	}
	got := readAll(read)
	cmd := command(tap, "/bin/sh", "-c",
		`i=0; while [ $i -lt 3000 ]; do printf 'part, '; echo end; i=$((i+1)); done >&2`)
	start(t, cmd)
	for range 300 {
		insert("message\n")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	finish(t, tap)
	insert("the last one\n")
	tap.Close()
	write.Close()
	lines := map[string]int{}
	for line := range strings.Lines(got.wait(t)) {
		lines[line]++
	}
	// The command's own pause within a line may be longer than the patience, on a busy machine.
	if lines["message\n"] < 290 || lines["part, end\n"] < 2990 || lines["the last one\n"] != 1 {
		t.Errorf("got %v", lines)
	}
}

// A line that never ends does not hold up a message for long.
func TestAMessageDoesNotWaitForALineWithoutAnEnd(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 1<<10)
	run(t, shell(tap, "printf 'in the middle '"))
	part := make([]byte, 14)
	if _, err := read.Read(part); err != nil {
		t.Fatal(err)
	}
	said := false
	tap.Insert(func() { said = true })
	if !said {
		t.Error("nothing was said")
	}
	finish(t, tap)
}

// What is not copied takes messages at once.
func TestAMessageToAFileIsWrittenAtOnce(t *testing.T) {
	_, file := originalFile(t, "", os.O_WRONLY)
	tap := tapped(t, null(t), file, 1<<10)
	said := false
	tap.Insert(func() { said = true })
	if !said {
		t.Error("nothing was said")
	}
}

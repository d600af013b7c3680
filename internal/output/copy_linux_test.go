package output_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// How many bytes are written to each of the two streams: to what is common, and to what is rare.
// REDLOCKRUN_TEST_OUTPUT says how many MiB the common ones get.
func many() int64 {
	if mib, err := strconv.ParseInt(os.Getenv("REDLOCKRUN_TEST_OUTPUT"), 10, 64); err == nil {
		return mib << 20
	}
	return unlessShort(64 << 20)
}

func some() int64 { return unlessShort(16 << 20) }

func unlessShort(bytes int64) int64 {
	if testing.Short() {
		return 4 << 20
	}
	return bytes
}

// Byte for byte, with every kind of stream and reader.
func TestEveryByteIsCopiedInOrder(t *testing.T) {
	for what, c := range map[string]struct {
		make func(testing.TB) (read, write *os.File)
		read func(h io.Writer, from *os.File) error
		size int64
	}{
		"pipes":  {originalPipe, readFast, many()},
		"slowly": {originalPipe, readSlowly, some()},
		"sockets": {func(t testing.TB) (*os.File, *os.File) {
			return originalSocket(t, unix.SOCK_STREAM)
		}, readFast, many()},
		"TCP": {originalTCP, readFast, some()},
		"non-blocking pipes": {func(t testing.TB) (*os.File, *os.File) {
			read, write := originalPipe(t)
			control(t, write, func(fd int) error { return unix.SetNonblock(fd, true) })
			return read, write
		}, readFast, some()},
		"non-blocking sockets": {func(t testing.TB) (*os.File, *os.File) {
			read, write := originalSocket(t, unix.SOCK_STREAM)
			control(t, write, func(fd int) error { return unix.SetNonblock(fd, true) })
			return read, write
		}, readFast, some()},
	} {
		t.Run(what, func(t *testing.T) {
			size := c.size
			var reads, writes [2]*os.File
			for i := range 2 {
				reads[i], writes[i] = c.make(t)
			}
			flags := [2]int{flagsOf(t, writes[0]), flagsOf(t, writes[1])}
			tap := tapped(t, writes[0], writes[1], 64<<10)
			sums := make(chan string, 2)
			for i := range 2 {
				go func() {
					h := sha256.New()
					err := c.read(h, reads[i])
					sums <- fmt.Sprint(i, err, sum(h))
				}()
			}
			run(t, self(tap, "random", strconv.FormatInt(size, 10)))
			finish(t, tap)
			for i := range 2 {
				if flagsOf(t, writes[i]) != flags[i] {
					t.Error("the flags of the original were changed")
				}
				control(t, writes[i], func(fd int) error { _ = unix.Shutdown(fd, unix.SHUT_WR); return nil })
				writes[i].Close()
			}
			tap.Close()
			got := []string{<-sums, <-sums}
			for i := range 2 {
				if want := fmt.Sprint(i, nil, sumOfRandom(i+1, size)); got[0] != want && got[1] != want {
					t.Errorf("descriptor %d: got one of %q, want %s", i+1, got, want)
				}
			}
			if tail := tap.Tail(); tail.Total != 2*size || len(tail.Text) != 64<<10 {
				t.Errorf("%d bytes of %d", len(tail.Text), tail.Total)
			}
		})
	}
}

func readFast(to io.Writer, from *os.File) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 1<<20))
	return err
}

// readSlowly reads little at a time, and yields.
func readSlowly(to io.Writer, from *os.File) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 1000))
	return err
}

func TestEveryByteReachesAFile(t *testing.T) {
	for what, flags := range map[string]int{"written": os.O_WRONLY, "appended to": os.O_WRONLY | os.O_APPEND} {
		size := some()
		if what == "written" {
			size = many()
		}
		t.Run(what, func(t *testing.T) {
			var paths [2]string
			var files [2]*os.File
			for i := range 2 {
				paths[i], files[i] = originalFile(t, "", flags)
			}
			tap := tapped(t, files[0], files[1], 1<<10)
			if tap.Stdout() != files[0] || tap.Stderr() != files[1] {
				t.Error("the command does not get the file itself")
			}
			run(t, self(tap, "random", strconv.FormatInt(size, 10)))
			finish(t, tap)
			var ends []byte
			for i := range 2 {
				f := open(t, paths[i], os.O_RDONLY)
				h := sha256.New()
				if err := readFast(h, f); err != nil {
					t.Fatal(err)
				}
				if got, want := sum(h), sumOfRandom(i+1, size); got != want {
					t.Errorf("descriptor %d: got %s, want %s", i+1, got, want)
				}
				end := make([]byte, 512)
				if _, err := f.ReadAt(end, size-512); err != nil {
					t.Fatal(err)
				}
				ends = append(ends, end...)
			}
			if tail := tap.Tail(); tail.Total != 2*size || tail.Err != nil || !bytes.Equal(tail.Text, ends) {
				t.Errorf("%d bytes of %d, %v", len(tail.Text), tail.Total, tail.Err)
			}
		})
	}
}

func TestEveryByteOfWhatGoesToNullIsSeen(t *testing.T) {
	size := many()
	tap := tapped(t, null(t), null(t), 1<<10)
	run(t, self(tap, "random", strconv.FormatInt(size, 10)))
	finish(t, tap)
	if tail := tap.Tail(); tail.Total != 2*size || len(tail.Text) != 1<<10 {
		t.Errorf("%d bytes of %d", len(tail.Text), tail.Total)
	}
}

// What is written to one open file by both streams keeps its order: to the reader, and in the tail.
func TestTwoStreamsThatAreOneKeepTheirOrder(t *testing.T) {
	const count = 20_000
	var want strings.Builder
	for i := range count {
		fmt.Fprintln(&want, i)
	}
	again := func(t *testing.T, f *os.File) *os.File { // as 2>/dev/stdout does
		return open(t, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_WRONLY)
	}
	same := func(_ *testing.T, f *os.File) *os.File { return f }
	socket := func(t testing.TB) (*os.File, *os.File) { return originalSocket(t, unix.SOCK_STREAM) }
	for what, c := range map[string]struct {
		make   func(testing.TB) (*os.File, *os.File)
		stderr func(*testing.T, *os.File) *os.File
	}{
		"a pipe": {originalPipe, same}, "a pipe opened anew": {originalPipe, again}, "a socket": {socket, same},
	} {
		t.Run(what, func(t *testing.T) {
			read, write := c.make(t)
			stderr := c.stderr(t, write)
			tap := tapped(t, write, stderr, 64<<10)
			if tap.Threads() != 1 || tap.Stdout() != tap.Stderr() {
				t.Error("the streams do not share a pipe")
			}
			got := readAll(read)
			run(t, self(tap, "numbers", strconv.Itoa(count)))
			finish(t, tap)
			tap.Close()
			write.Close()
			stderr.Close()
			if got.wait(t) != want.String() {
				t.Error("the order was not kept")
			}
			if tail := tap.Tail(); string(tail.Text) != want.String()[want.Len()-64<<10:] {
				t.Error("the order was not kept in the tail")
			}
		})
	}
}

func TestTwoStreamsThatAreNotOneAreNotMixed(t *testing.T) {
	first, stdout := originalPipe(t)
	second, stderr := originalPipe(t)
	tap := tapped(t, stdout, stderr, 1<<10)
	if tap.Threads() != 2 {
		t.Errorf("%d threads", tap.Threads())
	}
	out, err := readAll(first), readAll(second)
	run(t, shell(tap, "echo out; echo err >&2"))
	finish(t, tap)
	tap.Close()
	stdout.Close()
	stderr.Close()
	if out.wait(t) != "out\n" || err.wait(t) != "err\n" {
		t.Errorf("%q, %q", out.text, err.text)
	}
}

// Both /dev/null: the tail has the order all the same.
func TestTheOrderOfWhatGoesToNullIsKept(t *testing.T) {
	tap := tapped(t, null(t), null(t), 1<<10)
	run(t, shell(tap, "echo 1; echo 2 >&2; echo 3; echo 4 >&2"))
	finish(t, tap)
	if got := string(tap.Tail().Text); got != "1\n2\n3\n4\n" {
		t.Errorf("got %q", got)
	}
}

// A reader that stops slows down the command, which goes on with it.
func TestAReaderThatStopsStopsTheCommand(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, null(t), 1<<10)
	cmd := shell(tap, "echo first >&2; head -c 1000000 /dev/zero; echo last >&2")
	start(t, cmd)
	eventually(t, "all is full", func() bool { return full(t, read) && full(t, tap.Stdout()) })
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatal("the command has ended", err)
	}
	if tail := tap.Tail(); tail.Total > 3*64<<10+6 || bytes.Contains(tail.Text, []byte("last")) {
		t.Errorf("%d bytes are on their way", tail.Total)
	}
	got := readAll(read)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	finish(t, tap)
	tap.Close()
	write.Close()
	if n := len(got.wait(t)); n != 1_000_000 {
		t.Errorf("%d bytes", n)
	}
}

// The command ends while its output has no reader: its end is known at once, and the rest is
// written later.
func TestTheEndIsKnownThoughNobodyReads(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 1<<10)
	const bytes = 100_000 // more than fits into the original
	cmd := shell(tap, fmt.Sprintf("head -c %d /dev/zero; echo; echo last", bytes-6))
	start(t, cmd)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if tap.End() {
		t.Error("somebody is left")
	}
	if tail := tap.Tail(); tail.Total != bytes || !strings.HasSuffix(string(tail.Text), "\nlast\n") {
		t.Errorf("%d bytes, %q", tail.Total, tail.Text)
	}
	given := errors.New("given up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(given)
	if err := tap.Flush(ctx); !errors.Is(err, given) {
		t.Errorf("got %v", err)
	}
	got := make([]byte, bytes)
	if _, err := io.ReadFull(read, got); err != nil || !strings.HasSuffix(string(got), "\nlast\n") {
		t.Errorf("%q, %v", got[bytes-20:], err)
	}
	if err := tap.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAReaderThatIsGoneEndsTheCommand(t *testing.T) {
	for what, make := range map[string]func(testing.TB) (*os.File, *os.File){
		"pipe": originalPipe, "TCP": originalTCP,
		"socket": func(t testing.TB) (*os.File, *os.File) { return originalSocket(t, unix.SOCK_STREAM) },
	} {
		t.Run(what, func(t *testing.T) {
			read, write := make(t)
			tap := tapped(t, write, null(t), 1<<10)
			cmd := command(tap, "yes")
			start(t, cmd)
			if _, err := io.ReadFull(read, []byte{0, 0, 0, 0}); err != nil {
				t.Fatal(err)
			}
			read.Close()
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGPIPE {
				t.Errorf("got %v", err)
			}
			if tap.End() {
				t.Error("somebody is left")
			}
			if err := tap.Flush(t.Context()); !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
				t.Errorf("got %v", err)
			}
			if !strings.HasPrefix(string(tap.Tail().Text), "y\ny\n") {
				t.Error("the tail is lost")
			}
		})
	}
}

// hasReader reports whether a process could read what is written to a pipe.
func hasReader(t *testing.T, f *os.File) (has bool) {
	t.Helper()
	control(t, f, func(fd int) error {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(fds, 0)
		has = fds[0].Revents&unix.POLLERR == 0
		return err
	})
	return has
}

// Some commands look for their reader without writing: GNU tail -f does.
func TestAReaderThatIsGoneIsNoticedWithoutAWrite(t *testing.T) {
	for what, make := range map[string]func(testing.TB) (*os.File, *os.File){
		"pipe":   originalPipe,
		"socket": func(t testing.TB) (*os.File, *os.File) { return originalSocket(t, unix.SOCK_STREAM) },
	} {
		t.Run(what, func(t *testing.T) {
			read, write := make(t)
			tap := tapped(t, write, null(t), 1<<10)
			run(t, shell(tap, "echo once"))
			if _, err := io.ReadFull(read, []byte("once\n")); err != nil || !hasReader(t, tap.Stdout()) {
				t.Fatal("the pipe is closed too early", err)
			}
			read.Close()
			eventually(t, "the pipe is closed", func() bool { return !hasReader(t, tap.Stdout()) })
			tap.End()
			if err := tap.Flush(t.Context()); !errors.Is(err, unix.EPIPE) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The reader of a named FIFO may be replaced while nothing is written.
func TestAFIFOMayGetAnotherReader(t *testing.T) {
	path := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	first := open(t, path, os.O_RDONLY|unix.O_NONBLOCK)
	write := open(t, path, os.O_WRONLY)
	tap := tapped(t, write, null(t), 1<<10)
	first.Close()
	second := open(t, path, os.O_RDONLY|unix.O_NONBLOCK)
	run(t, shell(tap, "echo new"))
	finish(t, tap)
	tap.Close()
	write.Close()
	if got := readAll(second).wait(t); got != "new\n" {
		t.Errorf("got %q", got)
	}
}

// To a pipe that others write to, too, whole lines stay whole.
func TestLinesOfAPipeStayWhole(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 1<<10)
	other := tapped(t, write, write, 1<<10)
	got := readAll(read)
	const lines, length = 20_000, 300
	texts := [2]string{strings.Repeat("a", length), strings.Repeat("b", length)}
	cmds := []*exec.Cmd{
		self(tap, "lines", texts[0], strconv.Itoa(lines)),
		self(other, "lines", texts[1], strconv.Itoa(lines)),
	}
	for _, cmd := range cmds {
		start(t, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, tap)
	finish(t, other)
	tap.Close()
	other.Close()
	write.Close()
	var n [2]int
	for line := range strings.Lines(got.wait(t)) {
		switch line {
		case texts[0] + "\n":
			n[0]++
		case texts[1] + "\n":
			n[1]++
		default:
			t.Fatalf("broken line %q", line)
		}
	}
	if n != [2]int{lines, lines} {
		t.Errorf("%v lines", n)
	}
}

func TestHostileOutputIsKeptAsItIs(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 2<<10)
	got := readAll(read)
	const text = "\x00\x1b[2J\xff\xfe|<b>\r\x07"
	run(t, shell(tap, `head -c 10000000 /dev/zero; printf '\000\033[2J\377\376|<b>\r\007'`))
	finish(t, tap)
	tap.Close()
	write.Close()
	want := strings.Repeat("\x00", 10_000_000) + text
	if got.wait(t) != want {
		t.Error("it was changed on the way")
	}
	if tail := tap.Tail(); string(tail.Text) != want[len(want)-2<<10:] || tail.Total != int64(len(want)) {
		t.Errorf("%d bytes: %q", tail.Total, tail.Text)
	}
}

// A partial line is passed on at once: a person may wait for it.
func TestAPromptIsPassedOn(t *testing.T) {
	read, write := originalPipe(t)
	tap := tapped(t, write, write, 1<<10)
	cmd := shell(tap, "printf 'Name: '; read name; echo hello $name")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	prompt := make([]byte, 6)
	if _, err := io.ReadFull(read, prompt); err != nil || string(prompt) != "Name: " {
		t.Fatalf("%q, %v", prompt, err)
	}
	if _, err := io.WriteString(in, "you\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	finish(t, tap)
	if got := string(tap.Tail().Text); got != "Name: hello you\n" {
		t.Errorf("got %q", got)
	}
}

// A device may take each write as a message, so it gets the same writes.
func TestADeviceGetsTheWritesThatTheCommandMade(t *testing.T) {
	device := open(t, "/dev/full", os.O_WRONLY)
	tap := tapped(t, device, null(t), 1<<10)
	if flagsOf(t, tap.Stdout())&unix.O_DIRECT == 0 {
		t.Error("the pipe does not keep messages apart")
	}
	_ = shell(tap, "echo one").Run()
	tap.End()
	if err := tap.Flush(t.Context()); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if got := string(tap.Tail().Text); got != "one\n" {
		t.Errorf("got %q", got)
	}
}

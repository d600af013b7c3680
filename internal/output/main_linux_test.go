package output_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/output"

	"golang.org/x/sys/unix"
)

// parts are the roles of the test binary beside the tests.
var parts = map[string]func(args []string) int{
	"random":  func(args []string) int { return playRandom(args[0]) },
	"numbers": func(args []string) int { return playNumbers(args[0]) },
	"lines":   func(args []string) int { return playLines(args[0], args[1]) },
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if part, ok := parts[os.Args[1]]; ok {
			os.Exit(part(os.Args[2:]))
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every command takes a second to end
	os.Exit(m.Run())
}

// playRandom writes random bytes to both streams at once, in writes of random lengths.
func playRandom(size string) int {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		panic(err)
	}
	var both sync.WaitGroup
	for fd := 1; fd <= 2; fd++ {
		both.Go(func() { writeAll(fd, randomBytes(fd), n) })
	}
	both.Wait()
	return 0
}

// randomBytes returns the bytes that playRandom writes to a descriptor.
func randomBytes(fd int) io.Reader { return rand.NewChaCha8([32]byte{byte(fd)}) }

func writeAll(fd int, from io.Reader, n int64) {
	lengths := rand.New(rand.NewPCG(uint64(fd), 2))
	buf := make([]byte, 128<<10)
	for n > 0 {
		part := buf[:min(n, lengths.Int64N(int64(len(buf)))+1)]
		_, _ = io.ReadFull(from, part)
		n -= int64(len(part))
		for len(part) > 0 {
			m, err := unix.Write(fd, part)
			if err == unix.EINTR || err == unix.EAGAIN {
				continue
			}
			if err != nil {
				panic(err)
			}
			part = part[m:]
		}
	}
}

// playNumbers writes lines with numbers, each to the stream that its number says.
func playNumbers(count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		panic(err)
	}
	for i := range n {
		if _, err := unix.Write(1+i%2, fmt.Appendln(nil, i)); err != nil {
			panic(err)
		}
	}
	return 0
}

// playLines writes a line so many times, each with a write of its own.
func playLines(text, count string) int {
	n, err := strconv.Atoi(count)
	if err != nil {
		panic(err)
	}
	for range n {
		if _, err := unix.Write(1, []byte(text+"\n")); err != nil {
			panic(err)
		}
	}
	return 0
}

// sumOfRandom is the sum of the first n bytes that playRandom writes to fd.
func sumOfRandom(fd int, n int64) string {
	h := sha256.New()
	_, _ = io.CopyN(h, randomBytes(fd), n)
	return sum(h)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// limit is how long a test waits for what must happen.
const limit = time.Minute

// eventually waits until happened says so.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit)
	for !happened() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("this did not happen within %v: %s", limit, what)
		}
	}
}

// originalPipe is a pipe without O_NONBLOCK, as shells make them.
func originalPipe(t testing.TB) (read, write *os.File) {
	t.Helper()
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	return fileOf(t, ends[0]), fileOf(t, ends[1])
}

func originalSocket(t testing.TB, kind int) (read, write *os.File) {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fileOf(t, ends[0]), fileOf(t, ends[1])
}

func originalTCP(t testing.TB) (read, write *os.File) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var files [2]*os.File
	for i, conn := range []net.Conn{server, client} {
		if files[i], err = conn.(*net.TCPConn).File(); err != nil {
			t.Fatal(err)
		}
		files[i].Fd() // makes it blocking
		closeLater(t, files[i])
	}
	return files[0], files[1]
}

func fileOf(t testing.TB, fd int) *os.File {
	f := os.NewFile(uintptr(fd), "original")
	closeLater(t, f)
	return f
}

func closeLater(t testing.TB, f *os.File) { t.Cleanup(func() { _ = f.Close() }) }

// originalFile is a new file, opened as flags say.
func originalFile(t testing.TB, text string, flags int) (path string, f *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, open(t, path, flags)
}

func open(t testing.TB, path string, flags int) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, f)
	return f
}

func null(t testing.TB) *os.File { return open(t, os.DevNull, os.O_WRONLY) }

func tapped(t testing.TB, stdout, stderr *os.File, size int) *output.Tap {
	t.Helper()
	tap, err := output.New(stdout, stderr, size)
	if err != nil {
		t.Fatal(err)
	}
	return tap
}

// command returns a command that runs under tap.
func command(tap *output.Tap, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = tap.Stdout(), tap.Stderr()
	return cmd
}

func shell(tap *output.Tap, text string) *exec.Cmd { return command(tap, "/bin/sh", "-c", text) }

func self(tap *output.Tap, args ...string) *exec.Cmd {
	return command(tap, append([]string{"/proc/self/exe"}, args...)...)
}

func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
}

// finish ends the tap of a command that has left no process, and writes all.
func finish(t testing.TB, tap *output.Tap) {
	t.Helper()
	if tap.End() {
		t.Error("somebody is left")
	}
	if err := tap.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

// flagsOf are the file status flags.
func flagsOf(t testing.TB, f *os.File) (flags int) {
	t.Helper()
	control(t, f, func(fd int) (err error) {
		flags, err = unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		return err
	})
	return flags
}

// waiting returns how many bytes are in a pipe, and how many it can hold.
func waiting(t testing.TB, f *os.File) (bytes, capacity int) {
	t.Helper()
	control(t, f, func(fd int) (err error) {
		if bytes, err = unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil {
			return err
		}
		capacity, err = unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0)
		return err
	})
	return bytes, capacity
}

func full(t testing.TB, f *os.File) bool {
	bytes, capacity := waiting(t, f)
	return bytes == capacity
}

func control(t testing.TB, f *os.File, do func(fd int) error) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// A reading holds the bytes that are read to the end in the background.
type reading struct {
	done chan struct{}
	text []byte
	err  error
}

func readAll(from io.Reader) *reading {
	r := &reading{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.text, r.err = io.ReadAll(from)
	}()
	return r
}

func (r *reading) wait(t testing.TB) string {
	t.Helper()
	<-r.done
	if r.err != nil {
		t.Error(r.err)
	}
	return string(r.text)
}

// asNobody calls do with another user's rights on files.
func asNobody(t testing.TB, do func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setfsuid(os.Getuid()) }()
	do()
}

package outfile

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// link makes a symbolic link at path.
func link(t *testing.T, to, path string) string {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func directory(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func checkText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v; want %q", path, got, err, want)
	}
}

// checkEntries holds that dir has so many entries: nothing is left beside a file.
func checkEntries(t *testing.T, dir string, want int) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
		t.Errorf("%s: %v, %v; want %d entries", dir, entries, err, want)
	}
}

// What a link leads to is replaced, and the link stays.
func TestWhatALinkLeadsToIsReplaced(t *testing.T) {
	dir := t.TempDir()
	files := directory(t, filepath.Join(dir, "files"))
	deep := directory(t, filepath.Join(dir, "a", "b"))
	link(t, deep, filepath.Join(dir, "short"))
	for name, c := range map[string]struct{ path, file string }{
		"relative":          {link(t, "files/one", filepath.Join(dir, "1")), "one"},
		"absolute":          {link(t, filepath.Join(files, "two"), filepath.Join(dir, "2")), "two"},
		"of a link":         {link(t, "1", filepath.Join(dir, "3")), "one"},
		"behind a link, ..": {link(t, "short/../../files/one", filepath.Join(dir, "4")), "one"},
	} {
		file := filepath.Join(files, c.file)
		for _, text := range []string{"first", "second"} { // not there, and there
			before, _ := os.Stat(file)
			if err := Put(c.path, []byte(text), 0); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			checkText(t, file, text)
			if after, err := os.Stat(file); err != nil || os.SameFile(before, after) {
				t.Errorf("%s: it was written to and not replaced, %v", name, err)
			}
		}
		if there, err := os.Lstat(c.path); err != nil || there.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s: the link is gone: %v, %v", name, there, err)
		}
	}
	checkEntries(t, dir, 7)
	checkEntries(t, files, 2)
}

// Neither a device nor anything else that is no file is replaced, whatever leads to it.
func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, want := range map[string]error{
		fifo: ErrNoFile,
		link(t, "fifo", filepath.Join(dir, "to-fifo")): ErrNoFile,
		filepath.Join(dir, "socket"):                   ErrNoFile,
		dir:                                            ErrNoFile,
		dir + "/":                                      ErrNoFile,
		link(t, ".", filepath.Join(dir, "to-dir")):    ErrNoFile,
		link(t, "round", filepath.Join(dir, "round")): syscall.ELOOP,
		"/dev/null": nil,
		link(t, "/dev/null", filepath.Join(dir, "to-null")): nil,
		"/dev/": syscall.EISDIR,
		link(t, "/dev/no-such", filepath.Join(dir, "to-none")): syscall.ENOENT,
	} {
		before, _ := os.Lstat(path)
		if err := Put(path, []byte("x"), 0); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if after, err := os.Lstat(path); before != nil && (err != nil || !os.SameFile(before, after)) {
			t.Errorf("%s is another now: %v, %v", path, after, err)
		}
	}
	checkEntries(t, dir, 7)
	if _, err := os.Lstat("/dev/no-such"); err == nil {
		t.Error("a file was made in /dev")
	}
}

// A descriptor of redlockrun's own may be a connection to Redis.
func TestADescriptorThatTheCallerDidNotGiveIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own")
	own, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := Put(fmt.Sprintf("/dev/fd/%d", own.Fd()), []byte("x"), 0); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
	checkText(t, path, "")
}

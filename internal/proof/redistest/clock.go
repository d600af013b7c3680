package redistest

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

//go:embed testdata/clock.c
var clockSource []byte

// A Clock is the wall clock of servers that were started with it; it can be
// pushed and stopped while they run.
type Clock struct {
	file *os.File // the offset in nanoseconds, and where it stands; the servers have it mapped
	shim *os.File
}

// NewClock makes a clock that is right. It needs gcc.
func NewClock(t testing.TB) *Clock {
	t.Helper()
	c, err := makeClock(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.file.Close() })
	return c
}

func makeClock(dir string) (*Clock, error) {
	shim, err := clockShim()
	if err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, "offset"))
	if err != nil {
		return nil, err
	}
	c := &Clock{file: file, shim: shim}
	return c, errors.Join(c.Push(0), c.set(8, 0))
}

// clockShim is the library of all clocks, compiled once. Its file has no name any
// more: it goes with this process.
var clockShim = sync.OnceValues(func() (*os.File, error) {
	dir, err := os.MkdirTemp("", "clock")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source, shim := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-o", shim, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile clock.c: %w (`make test` installs gcc)\n%s", err, out)
	}
	return os.Open(shim)
})

// Push sets how far the clock is ahead of the true time.
func (c *Clock) Push(ahead time.Duration) error { return c.set(0, int64(ahead)) }

// Stop has the clock stand still at an instant. It goes on by Stop of the zero time.
func (c *Clock) Stop(at time.Time) error {
	if at.IsZero() {
		return c.set(8, 0)
	}
	return c.set(8, at.UnixNano())
}

func (c *Clock) set(place, nanoseconds int64) error {
	_, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(nanoseconds)), place)
	return err
}

// env is what a process with this clock has in its environment.
func (c *Clock) env() []string {
	shim := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), c.shim.Fd())
	return []string{"LD_PRELOAD=" + shim, "REDISTEST_CLOCK=" + c.file.Name()}
}

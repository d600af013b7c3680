package redistest

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

//go:embed testdata/clock.c
var clockSource []byte

// A Clock is the wall clock of servers that were started with it; it can be
// pushed while they run.
type Clock struct {
	file *os.File // the offset in nanoseconds; the servers have it mapped
	shim string
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
	source, shim := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("gcc", "-O2", "-shared", "-fPIC", "-o", shim, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile clock.c: %w (`make test` installs gcc)\n%s", err, out)
	}
	file, err := os.Create(filepath.Join(dir, "offset"))
	if err != nil {
		return nil, err
	}
	c := &Clock{file: file, shim: shim}
	return c, c.Push(0)
}

// Push sets how far the clock is ahead of the true time.
func (c *Clock) Push(ahead time.Duration) error {
	_, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0)
	return err
}

// env is what a process with this clock has in its environment.
func (c *Clock) env() []string {
	return []string{"LD_PRELOAD=" + c.shim, "REDISTEST_CLOCK=" + c.file.Name()}
}

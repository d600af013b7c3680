package guard

import (
	"encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// entry is one record of getdents(2).
func entry(length int, name string) []byte {
	b := make([]byte, 19, 64)
	binary.NativeEndian.PutUint16(b[16:], uint16(length))
	return append(append(b, name...), 0)
}

func TestAWalkEndsAtNonsense(t *testing.T) {
	good := append(entry(24, "12"), 0, 0)
	for what, after := range map[string][]byte{
		"nothing":                {},
		"a record of length 0":   entry(0, "13"),
		"one shorter than it is": entry(18, "13"),
		"one without a name":     entry(19, "13"),
		"one that is too long":   entry(200, "13"),
		"half a record":          entry(22, "13")[:10],
		"no record at all":       {1},
	} {
		var seen []int
		eachNumber(append(slices.Clone(good), after...), func(n int) bool {
			seen = append(seen, n)
			return len(seen) < 100
		})
		if !slices.Equal(seen, []int{12}) {
			t.Errorf("%s: saw %v, want 12 alone", what, seen)
		}
	}
	var seen []int
	eachNumber([]byte(string(entry(22, "14"))+string(entry(22, "xy"))+string(entry(22, "15"))), func(n int) bool {
		seen = append(seen, n)
		return true
	})
	if !slices.Equal(seen, []int{14, 15}) {
		t.Errorf("saw %v, want 14 and 15", seen)
	}
}

func TestAWalkEndsWhenItsTimeIsOver(t *testing.T) {
	end := boottime() + 10*millisecond
	calls := 0
	eachProcess(end, func(int) {
		calls++
		for boottime() < end {
			sleep(millisecond)
		}
	})
	if calls != 1 {
		t.Errorf("%d processes were looked at, want 1", calls)
	}
}

func TestAWalkMayBeInsideOfAnother(t *testing.T) {
	dir := t.TempDir()
	for n := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, decimal(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	walk := func(f func(int) bool) {
		fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(fd)
		eachEntry(fd, f)
	}
	seen := map[int]int{}
	walk(func(n int) bool {
		if seen[n]++; len(seen)%100 == 1 {
			walk(func(int) bool { return true })
		}
		return true
	})
	if again := slices.Max(slices.Collect(maps.Values(seen))); len(seen) != 1000 || again != 1 {
		t.Errorf("saw %d of 1000 files, one of them %d times", len(seen), again)
	}
}

func TestTheMarkerIsFoundInALargeEnvironment(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	for n := range 2000 {
		cmd.Env = append(cmd.Env, "FILL"+decimal(n)+"=0123456789")
	}
	cmd.Env = append(cmd.Env, "MARKER=12345", "LAST=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	// Start returns when execve has closed descriptors, which is before the environment is
	// visible.
	for late := time.Now().Add(time.Minute); !marked(cmd.Process.Pid, []byte("LAST=1")) && time.Now().Before(late); {
		runtime.Gosched()
	}
	for marker, want := range map[string]bool{
		"MARKER=12345": true, "LAST=1": true, "FILL1999=0123456789": true,
		"MARKER=1234": false, "ARKER=12345": false, "LAST=12": false,
	} {
		if got := marked(cmd.Process.Pid, []byte(marker)); got != want {
			t.Errorf("%s: %v, want %v", marker, got, want)
		}
	}
}

// Whatever it does, and whatever it ignores, the kernel ends it.
func TestAnExpiredProcessIsKilled(t *testing.T) {
	if os.Getenv("GUARD_TEST_EXPIRES") != "" {
		isolate(1 << 20)
		killSelfAfter(50 * millisecond)
		//lint:ignore SA5002 it is to be busy
		for {
		}
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "GUARD_TEST_EXPIRES=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !late.Stop() || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v, and not by the kernel's SIGKILL", cmd.ProcessState)
	}
}

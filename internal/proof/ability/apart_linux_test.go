package ability

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Where a PID namespace can be made, what runs apart leaves nobody behind.
func TestWhatRunsApartLeavesNobodyBehind(t *testing.T) {
	Need(t, Namespaces)
	if os.Getuid() != 0 {
		t.Skip("unshare(1) needs root for this")
	}
	mark := filepath.Join(t.TempDir(), "left")
	argv := Apart("sh", "-c", `setsid sh -c 'sleep 300; :' "$0" & sleep 0.1; exit 3`, mark)
	err := exec.Command(argv[0], argv[1:]...).Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v, want status 3", err)
	}
	for end := time.Now().Add(30 * time.Second); runs(t, mark); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process of another session runs on")
		}
	}
}

// runs reports whether a process has mark among its words.
func runs(t *testing.T, mark string) bool {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if words, _ := os.ReadFile(file); strings.Contains(string(words), mark) {
			return true
		}
	}
	return false
}

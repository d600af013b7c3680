//go:build linux && e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pages that `make man` has written, which `make e2e` does before.
func TestTheManualPagesAreGoodRoff(t *testing.T) {
	pages, err := filepath.Glob("../../../dist/redlockrun*.1")
	if err != nil || len(pages) < 2 {
		t.Fatalf("there are the pages %q: %v", pages, err)
	}
	for _, path := range pages {
		wantGoodRoff(t, path)
	}
}

func wantGoodRoff(t *testing.T, path string) {
	t.Helper()
	for _, argv := range [][]string{{"mandoc", "-T", "lint", path}, {"man", "--warnings", "-l", path}} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "LC_ALL=C.UTF-8", "MANWIDTH=80")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if argv[0] == "mandoc" {
			said.Write(out)
		} else if !strings.Contains(string(out), "redlockrun") {
			t.Errorf("%q shows\n%s", argv, out)
		}
		if err != nil || said.String() != "" {
			t.Errorf("%q: %v\n%s", argv, err, said.String())
		}
	}
}

//go:build linux && e2e

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The page that `make man` has written, which `make e2e` does before.
func TestTheManualPageIsGoodRoff(t *testing.T) {
	const path = "../../../dist/redlockrun.1"
	for _, argv := range [][]string{{"mandoc", "-T", "lint", path}, {"man", "--warnings", "-l", path}} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "LC_ALL=C.UTF-8", "MANWIDTH=80")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if argv[0] == "mandoc" {
			said.Write(out)
		} else if !strings.Contains(string(out), "redlockrun doctor") {
			t.Errorf("%q shows\n%s", argv, out)
		}
		if err != nil || said.String() != "" {
			t.Errorf("%q: %v\n%s", argv, err, said.String())
		}
	}
}

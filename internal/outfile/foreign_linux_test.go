package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"redlockrun/internal/proof/ability"
	"strings"
	"testing"
)

// Who may write to the directory could else have root replace any file.
func TestALinkOfAnotherUserIsNotFollowed(t *testing.T) {
	ability.Need(t, ability.Users)
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	trap := link(t, "victim", filepath.Join(dir, "trap"))
	if err := os.Lchown(trap, 54321, 54321); err != nil {
		t.Fatal(err)
	}
	if err := Put(trap, []byte("x"), 0); !errors.Is(err, errForeign) || !strings.Contains(err.Error(), trap) {
		t.Error(err)
	}
	checkText(t, victim, "precious")
}

package operator

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"redlockrun/internal/runner"
)

// A signal leaves the earlier file, and no other file beside it.
func TestASignalEndsACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "redlockrun")
	if err := os.WriteFile(there, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := runner.Interrupted(syscall.SIGTERM)
	cancel(ended)
	if err := copyInto(ctx, dir); !errors.Is(err, ended) {
		t.Errorf("%v", err)
	}
	left, err := os.ReadDir(dir)
	text, readErr := os.ReadFile(there)
	if err != nil || readErr != nil || len(left) != 1 || string(text) != "old" {
		t.Errorf("%v is left, %q, %v, %v", left, text, err, readErr)
	}
}

// The file is written in pieces of 64 KiB, the last one as long as what is left.
func TestACopyIsWrittenInPieces(t *testing.T) {
	t.Parallel()
	const piece = 64 << 10
	for _, size := range []int{0, 1, piece, piece + 1, 3*piece - 1} {
		text := bytes.Repeat([]byte("x"), size)
		var to pieces
		if err := copyPieces(t.Context(), &to, bytes.NewReader(text)); err != nil || !bytes.Equal(to.all, text) {
			t.Errorf("%d bytes: %d came, %v", size, len(to.all), err)
		}
		for i, n := range to.sizes {
			if n != piece && i < len(to.sizes)-1 {
				t.Errorf("%d bytes: pieces of %v", size, to.sizes)
			}
		}
	}
}

// pieces is a file that counts how it is written.
type pieces struct {
	all   []byte
	sizes []int
}

func (p *pieces) Write(text []byte) (int, error) {
	p.all, p.sizes = append(p.all, text...), append(p.sizes, len(text))
	return len(text), nil
}

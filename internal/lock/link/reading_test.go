package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"redlockrun/internal/proof/locktest"
)

// Of a file that blocks there is one read, however often it is asked for; and what that finds
// at last is not lost.
func TestABlockedReadIsLeftBehindAndShared(t *testing.T) {
	out, in, err := os.Pipe()
	locktest.Must(t, err)
	defer out.Close()
	path := fmt.Sprintf("/dev/fd/%d", out.Fd())
	brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if text, err := readFile(brief, path); !errors.Is(err, errUnread) {
		t.Fatalf("nobody has written: %q, %v", text, err)
	}
	first := readings.of[path]
	if text, err := readFile(t.Context(), path); !errors.Is(err, errUnread) || readings.of[path] != first {
		t.Fatalf("while it is known to block: %q, %v", text, err)
	}
	_, err = in.WriteString("secret")
	locktest.Must(t, errors.Join(err, in.Close()))
	<-first.done
	for range 2 { // the pipe is empty by now
		if text, err := readFile(t.Context(), path); string(text) != "secret" {
			t.Errorf("at last: %q, %v", text, err)
		}
	}
}

func TestAFileIsReadAnewEachTime(t *testing.T) {
	path := t.TempDir() + "/file"
	for _, text := range []string{"old", "new"} {
		locktest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := readFile(t.Context(), path); string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	if readings.of[path] != nil {
		t.Error("the last read is kept")
	}
}

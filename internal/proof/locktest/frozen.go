package locktest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"redlockrun/internal/lock"
)

// freeze has the tests of what is frozen write it anew: scripts/freeze.sh.
var freeze = flag.Bool("freeze", false, "write testdata/protocol/1 anew")

// frozenDir is where the first protocol is kept, seen from a room of the lock.
const frozenDir = "../../../testdata/protocol/1"

const brokenAdvice = `What this release writes and sends does not go together with testdata/protocol/1.
Has that not been released yet? Then take it anew: scripts/freeze.sh
Otherwise other releases of redlockrun break, too: raise wire.Protocol, write a floor into the
fence, and add testdata/protocol/2. The rules are at Protocol in internal/lock/wire/record.go.`

// Advise says what to do if a test of several releases fails.
func Advise(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(brokenAdvice)
		}
	})
}

// Frozen is a file of the first protocol: a step or a sample. Room is "line", "quorum" or "local".
func Frozen(t *testing.T, room, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(frozenDir, room, name))
	Must(t, err)
	return string(b)
}

// Freeze writes a file of the first protocol, if that is wanted.
func Freeze(t *testing.T, room, name, text string) {
	t.Helper()
	if *freeze {
		dir := filepath.Join(frozenDir, room)
		Must(t, os.MkdirAll(dir, 0o755))
		Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
}

// FrozenHolder is whose records are frozen.
func FrozenHolder() lock.Holder {
	return lock.Holder{
		Run: "01KAMHYV00FR0ZEN0000000000", Host: "web-3", PID: 4121, User: "alice", Command: "php",
		Start: time.UnixMilli(frozenInstant),
	}
}

const frozenInstant = 1763790000123

var instants = regexp.MustCompile(`\b1[0-9]{12}\b`)

// Still is a text of a server with one and the same instant everywhere, as what differs
// from run to run.
func Still(text any) string {
	return instants.ReplaceAllString(fmt.Sprint(text), strconv.FormatInt(frozenInstant, 10)) + "\n"
}

// Freezing reports whether a set is written, before which there is none to be tested.
func Freezing() bool { return *freeze }

// FrozenStep is a step of the first protocol as it was sent. What it did not have is
// present's.
func FrozenStep(t *testing.T, room string, present func(step string) string) func(step string) string {
	t.Helper()
	return func(step string) string {
		b, err := os.ReadFile(filepath.Join(frozenDir, room, step+".lua"))
		if errors.Is(err, fs.ErrNotExist) {
			return present(step)
		}
		if err != nil {
			panic(err)
		}
		return string(b)
	}
}

// Mixed draws for each step whether it is the frozen one or the present one.
func Mixed(t *testing.T, room string, present func(step string) string) func(step string) string {
	t.Helper()
	draw := Draw(t)
	frozen := FrozenStep(t, room, present)
	return func(step string) string {
		if draw(2) == 0 {
			return frozen(step)
		}
		return present(step)
	}
}

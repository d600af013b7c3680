package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// A signal that comes when the first package has been initialized, or any time later, ends redlockrun
// or reaches the command: no signal is swallowed, and none prints what threads are at.
func TestNoSignalIsSwallowedAtTheStart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	sigs := []syscall.Signal{unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, 34, 40}
	var before atomic.Int32
	t.Run("signals", func(t *testing.T) {
		for i := range 6 * len(sigs) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if !signalAtTheStart(t, s, fmt.Sprint("job", i), sigs[i%len(sigs)]) {
					before.Add(1)
				}
			})
		}
	})
	if all := int32(6 * len(sigs)); before.Load() > 3*all/4 {
		t.Errorf("%d of %d commands ended before the signal", before.Load(), all)
	}
}

// signalAtTheStart sends sig at one of the first system calls, and reports whether it came
// before the command, which tells that it got it.
func signalAtTheStart(t *testing.T, s *redistest.Server, key string, sig syscall.Signal) bool {
	t.Helper()
	stderr := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := traceTo(t, s.URL(), file, "-k", key, "sleep", "20")
	stops := 1 + rand.IntN(350)
	for actions := 0; !r.over && !r.ran && stops > 0; {
		stop, is := r.next(true)
		if !is {
			continue
		}
		if actions == 2 {
			stops--
		}
		if setsLast(stop) {
			actions++ // the first time it is Go's runtime that sets it
		}
		r.goOn(stop.id, 0)
	}
	unix.Kill(r.run, sig)
	r.free()
	said, _ := os.ReadFile(stderr)
	if r.status.ExitStatus() != 128+int(sig) && r.status.Signal() != sig ||
		strings.Contains(string(said), "goroutine") {
		t.Errorf("signal %d, %d stops left: status %x, said %q", sig, stops, r.status, said)
	}
	return !r.ran
}

// setsLast reports that the action of the last signal is about to be set.
func setsLast(s stop) bool {
	return s.info.op == entry && s.info.number == unix.SYS_RT_SIGACTION && s.info.args[0] == 64 && s.info.args[1] != 0
}

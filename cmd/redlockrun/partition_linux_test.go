package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/explain"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"
)

// launchOn is launch on a host of a network.
func launchOn(t *testing.T, h *redistest.Host, url string, args ...string) *process {
	t.Helper()
	return launchCommand(t, url, h.Command(binary(t), args...))
}

// fenceIn is the number that a job has written into a file.
func fenceIn(t *testing.T, path string) int64 {
	t.Helper()
	until(t, path, func() bool { return exists(path) })
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fence, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return fence
}

// There is no promise here: a job that is cut off together with its master runs beside one that
// the other side has started. The fence tells the two apart, and the first is stopped once the
// network is whole again.
func TestAJobCutOffWithItsMasterRunsAlongsideAnotherUntilTheCutEnds(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	n := redistest.NewNetwork(t)
	s := redistest.StartSentinel(t, redistest.SentinelOptions{
		Replicas: 1, Places: []*redistest.Host{n.Left, n.Right, n.Left, n.Right, n.Right}})
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	script := func(fence string) string {
		return `echo "$REDLOCKRUN_FENCE" >` + fence + `.new && mv ` + fence + `.new ` + fence + ` && exec sleep 1000`
	}
	if err := n.Cut(); err != nil {
		t.Fatal(err)
	}
	first := launchOn(t, n.Left, s.URL(), "-k", "job", "--renew-every", "1", "-c", script(a))
	lower := fenceIn(t, a)
	if _, err := s.Failover(s.Sentinels[1], s.Sentinels[2]); err != nil {
		t.Fatal(err)
	}
	second := launchOn(t, n.Right, s.URL(), "-k", "job", "--renew-every", "1", "-c", script(b))
	if higher := fenceIn(t, b); higher <= lower {
		t.Errorf("fences %d and then %d", lower, higher)
	}
	select {
	case <-first.done:
		t.Fatalf("the first has ended: %s", first.stderr())
	default: // the two run at once
	}
	if err := n.Heal(); err != nil {
		t.Fatal(err)
	}
	first.ends(explain.StatusLost)
	if said := first.stderr(); !strings.Contains(said, "another run took lock") {
		t.Error(said)
	}
	second.signal(syscall.SIGTERM)
	second.ends(explain.StatusSignal + int(syscall.SIGTERM))
}

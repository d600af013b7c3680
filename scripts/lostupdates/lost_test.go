//go:build linux

package main

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
	"redlockrun/internal/proof/seeded"
)

// A place for a round without hosts, with the job in it.
func newRound(t *testing.T) *round {
	t.Helper()
	dir := t.TempDir()
	r := &round{dir: filepath.Join(dir, "data"), lane: &lane{tools: &tools{job: filepath.Join(dir, "job.sh")}}}
	if err := os.WriteFile(r.lane.tools.job, jobText, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// launch starts a job of a run with a fence, which thinks until it gets a line.
func (r *round) launch(t *testing.T, id, fence, check string) (write func() bool) {
	t.Helper()
	bin := t.TempDir() // where sleep is what the test says
	if err := os.WriteFile(filepath.Join(bin, "sleep"), []byte("#!/bin/sh\nread -r line\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(r.lane.tools.job, r.dir, id, "1", check)
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "REDLOCKRUN_FENCE=" + fence}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool, 1)
	go func() { ended <- cmd.Wait() == nil }()
	over := false
	redistest.Until(patience, func() bool { over = len(ended) > 0; return over || r.noted(id, "read") })
	return func() bool {
		_, _ = io.WriteString(in, "\n")
		return <-ended
	}
}

func (r *round) lostOf(t *testing.T, acked ...string) int {
	t.Helper()
	r.acked = acked
	_, lost, err := r.compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lost
}

func TestJobsOneAfterTheOtherLoseNothing(t *testing.T) {
	t.Parallel()
	for _, check := range []string{"", "late", "early"} {
		r := newRound(t)
		for _, id := range []string{"1", "2", "3"} {
			if !r.launch(t, id, id, check)() {
				t.Fatalf("%q: job %s fails", check, id)
			}
		}
		if lost := r.lostOf(t, "1", "2", "3"); lost != 0 {
			t.Errorf("%q: lost %d", check, lost)
		}
	}
}

func TestAJobThatWasOvertakenLosesTheOthersUpdate(t *testing.T) {
	t.Parallel()
	r := newRound(t)
	first, second := r.launch(t, "1", "1", ""), r.launch(t, "2", "2", "")
	if !second() || !first() {
		t.Fatal("a job fails")
	}
	if lost := r.lostOf(t, "1", "2"); lost != 1 {
		t.Errorf("lost %d, want the second's", lost)
	}
}

func TestAFenceRefusesWhoWasOvertaken(t *testing.T) {
	t.Parallel()
	for _, check := range []string{"late", "early"} {
		r := newRound(t)
		first, second := r.launch(t, "1", "1", check), r.launch(t, "2", "2", check)
		if !second() || first() {
			t.Fatalf("%s: the second fails, or the first does not", check)
		}
		if lost := r.lostOf(t, "2"); lost != 0 {
			t.Errorf("%s: lost %d", check, lost)
		}
	}
}

// What the fence is checked for from the reading on: the first writes when the second has
// read, and the second writes over it.
func TestAFenceThatIsCheckedAtTheWriteAloneLosesWhatCameAfterTheRead(t *testing.T) {
	t.Parallel()
	late := newRound(t)
	first, second := late.launch(t, "1", "1", "late"), late.launch(t, "2", "2", "late")
	if !first() || !second() {
		t.Fatal("late: a job fails")
	}
	if lost := late.lostOf(t, "1", "2"); lost != 1 {
		t.Errorf("late: lost %d, want the first's", lost)
	}
	early := newRound(t)
	first, second = early.launch(t, "1", "1", "early"), early.launch(t, "2", "2", "early")
	if first() || !second() {
		t.Fatal("early: the first does not fail, or the second does")
	}
	if lost := early.lostOf(t, "2"); lost != 0 {
		t.Errorf("early: lost %d", lost)
	}
}

func TestTwoWithOneFenceAreToldApart(t *testing.T) {
	t.Parallel()
	r := newRound(t)
	first, second := r.launch(t, "1", "7", "early"), r.launch(t, "2", "7", "early")
	if !first() || second() {
		t.Error("the second of two with one fence is let in")
	}
}

func TestMissingIsWhatOneOfTheListsLacks(t *testing.T) {
	t.Parallel()
	got := missing([]string{"1", "2", "3", "4"}, []string{"1", "2", "4"}, []string{"4", "1", "3"})
	if want := []string{"2", "3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheMachineStoodStillInWhatOverlaps(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	l := &lateness{}
	l.note(200*time.Millisecond, at(1000))
	l.note(tolerable-1, at(2000))
	for _, c := range []struct{ from, to, want int }{{0, 700, 0}, {0, 801, 200}, {900, 950, 200}, {1001, 3000, 0}} {
		if got := l.between(at(c.from), at(c.to), tolerable); got != time.Duration(c.want)*time.Millisecond {
			t.Errorf("between %d and %d: %s, want %d ms", c.from, c.to, got, c.want)
		}
	}
	if got := l.between(at(0), at(3000), renewable); got != 0 {
		t.Errorf("%s is too long where a lease can be renewed", got)
	}
}

func TestWhoSleepsTooLongIsSeen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	l := watch(ctx)
	defer cancel()
	if !redistest.Until(patience, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return l.worst > 0 }) {
		t.Error("nobody ever wakes up late")
	}
}

func TestWhatIsKeptIsCountedByRow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kept")
	if all, err := kept(path, true); err != nil || len(all) != 0 {
		t.Errorf("no file: %v, %v", all, err)
	}
	want := outcome{acked: 9, lost: 2, struck: true, stood: time.Second}
	for _, row := range []string{"fence", "none", "fence"} {
		if err := keep(path, row, "host", want); err != nil {
			t.Fatal(err)
		}
	}
	all, err := kept(path, true)
	if err != nil || len(all) != 2 || all[0].row.name != "none" || all[1].row.name != "fence" {
		t.Fatalf("%v, %v", all, err)
	}
	if got := all[1].outcomes["host"]; !slices.Equal(got, []outcome{want, want}) {
		t.Errorf("%+v", got)
	}
}

// A tally of one row, with the same outcome for each fault.
func tallyOf(r row, p *plan, each outcome) *tally {
	t := &tally{row: r, outcomes: map[string][]outcome{}, cables: true}
	for _, f := range p.faults {
		if f.meets(r, true) {
			t.outcomes[f.name] = []outcome{each}
		}
	}
	return t
}

func named(t *testing.T, name string) row {
	t.Helper()
	for _, r := range rows() {
		if r.name == name {
			return r
		}
	}
	t.Fatalf("there is no row %s", name)
	return row{}
}

func TestTheVerdict(t *testing.T) {
	t.Parallel()
	p := &plan{times: 1, faults: faults()}
	well := outcome{acked: 9, struck: true}
	lossy, idle, late, still := well, well, well, well
	lossy.lost, idle.acked, late.struck, still.stood = 1, 5, false, time.Second
	lossyStill := lossy
	lossyStill.stood = time.Second
	for _, c := range []struct {
		row  string
		each outcome
		want string
	}{
		{"guard", well, ""}, {"fence", well, ""}, {"setnx", lossy, ""}, {"none", lossy, ""}, {"flock", well, ""},
		{"guard", lossy, "inside the assumptions"}, {"late-fence", lossy, "inside the assumptions"},
		{"fence", lossy, "outside of the assumptions"}, {"fence", lossyStill, "outside of the assumptions"},
		{"none", well, "finds nothing"}, {"guard", idle, "too little"}, {"guard", late, "too few faults"},
		{"guard", still, "stood still"},
	} {
		err := judge([]*tally{tallyOf(named(t, c.row), p, c.each)}, p)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %+v: %v, want %q", c.row, c.each, err, c.want)
		}
	}
	p.short = true
	if err := judge([]*tally{tallyOf(named(t, "guard"), p, lossyStill)}, p); err != nil {
		t.Errorf("the short form on a machine that stands still: %v", err)
	}
}

func TestTheTableHasARowForEachAndACellForEachFault(t *testing.T) {
	t.Parallel()
	p := &plan{times: 1, faults: faults()}
	var all []*tally
	for _, r := range rows() {
		all = append(all, tallyOf(r, p, outcome{acked: 20, lost: 3, struck: true}))
	}
	text, said, _ := strings.Cut(table(all), "\n\n")
	if said != "76 rounds; in 0 that were to be inside the assumptions the test's machine stood still.\n" {
		t.Error(said)
	}
	lines := strings.Split(text, "\n")
	if len(lines) != len(all)+2 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if got, want := strings.Count(line, "|"), len(faults())+7; got != want {
			t.Errorf("%d marks, want %d: %s", got, want, line)
		}
	}
	if row := lines[2+len(all)-1]; !strings.Contains(row, "| **18** of 120 | 3 | 3 | 3 | 3 | – | **12** of 80 |") {
		t.Error(row)
	}
	if row := lines[2]; !strings.Contains(row, "| 3 | 3 | 3 | – | – | – | **9** of 60 | 3 | – | – | – |") {
		t.Error(row)
	}
}

func TestThePageHasAPlaceForTheTable(t *testing.T) {
	t.Parallel()
	if text, err := os.ReadFile("../../docs/dev/proof/lost-updates.md"); err != nil {
		t.Error(err)
	} else if _, err := part.In(string(text)); err != nil {
		t.Errorf("docs/dev/proof/lost-updates.md: %v", err)
	}
}

func TestARelayKeepsBackWhatItIsTo(t *testing.T) {
	t.Parallel()
	echo, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := echo.Accept()
		if err == nil {
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	}()
	defer echo.Close()
	r, err := forward(echo.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	conn, err := net.Dial("tcp", r.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got := make([]byte, 1)
	exchange := func() error {
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, got)
		return err
	}
	if err := exchange(); err != nil {
		t.Fatal(err)
	}
	r.hold(true)
	came := make(chan error, 1)
	go func() { came <- exchange() }()
	select {
	case err := <-came:
		t.Fatalf("it passes on while it is held: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	r.hold(false)
	if err := <-came; err != nil {
		t.Error(err)
	}
}

// The build without a guard is the program but for two places.
func TestThereIsABuildWithoutAGuard(t *testing.T) {
	t.Chdir("../..")
	path, err := seeded.Overlay(t.TempDir(), ".", withoutGuard...)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "overlay-") != len(withoutGuard) {
		t.Errorf("%s, %v", text, err)
	}
}

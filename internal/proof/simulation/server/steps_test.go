package server_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/quorum"
	"redlockrun/internal/proof/locktest"
)

// A step is a script, as clients have sent it, with what they have sent along.
type step struct {
	text string
	keys [][]string // in which %s is for the run, %d for the job
	args [][]string
}

var recording struct {
	once  sync.Once
	steps []step
}

// recorded returns the steps of all stores. Their own clients send them to models: no script is written for a test. The
// steps are the same each time, as their time is made.
func recorded(t *testing.T) []step {
	recording.once.Do(func() { recording.steps = record(t) })
	return recording.steps
}

func record(t *testing.T) []step {
	var mu sync.Mutex // several masters hear at once
	seen := map[string]string{}
	for _, on := range []func(*testing.T, func() *served){
		lineSteps, lineStepsOfSlots, lineStepsOfOperators, lineLooks, quorumSteps, quorumStepsOfOperators,
	} {
		synctest.Test(t, func(t *testing.T) {
			on(t, func() *served { return serve(t, func(b []byte) { note(&mu, seen, b) }) })
		})
	}
	steps := map[string]*step{}
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		request := seen[kind]
		words := strings.Split(request, "\x00")
		s := steps[words[1]]
		if s == nil {
			s = &step{text: words[1]}
			steps[words[1]] = s
		}
		n, err := strconv.Atoi(words[2])
		locktest.Must(t, err)
		s.keys, s.args = append(s.keys, words[3:3+n]), append(s.args, words[3+n:])
	}
	var all []step
	for _, text := range slices.Sorted(maps.Keys(steps)) {
		all = append(all, *steps[text])
	}
	return all
}

var (
	aRun      = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`)
	anInstant = regexp.MustCompile(`\b9\d{11}\b`) // of the year 2000
	aNumber   = regexp.MustCompile(`\d+`)
)

// note keeps the EVALs of a request, where the run and instants are named alike in all: one of each kind, whatever the
// numbers in it are.
func note(mu *sync.Mutex, seen map[string]string, b []byte) {
	mu.Lock()
	defer mu.Unlock()
	for _, words := range requests(b) {
		if words[0] = strings.ToUpper(words[0]); words[0] != "EVAL" {
			continue
		}
		for i := range words {
			words[i] = aRun.ReplaceAllString(words[i], "RUN")
			words[i] = anInstant.ReplaceAllString(words[i], "INSTANT")
		}
		request := strings.Join(words, "\x00")
		kind := words[1] + aNumber.ReplaceAllString(strings.Join(words[2:], "\x00"), "0")
		if other, known := seen[kind]; !known || request < other {
			seen[kind] = request
		}
	}
}

// requests are those in some bytes that hold whole ones.
func requests(b []byte) (all [][]string) {
	for len(b) > 0 {
		var n, size int
		fmt.Sscanf(string(b), "*%d", &n)
		b = b[bytes.IndexByte(b, '\n')+1:]
		words := make([]string, n)
		for i := range words {
			fmt.Sscanf(string(b), "$%d", &size)
			b = b[bytes.IndexByte(b, '\n')+1:]
			words[i] = string(b[:size])
			b = b[size+2:]
		}
		all = append(all, words)
	}
	return all
}

func good() lock.ReleaseRequest {
	return lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndOk, Attempts: 1}}
}

func bad() lock.ReleaseRequest {
	result := lock.RunResult{End: lock.EndFailed, Status: 7, Attempts: 2, Lost: true}
	return lock.ReleaseRequest{Keep: time.Minute, Result: result}
}

func wanting(name string) lock.Request {
	req := locktest.RequestFor(name)
	req.Clock, req.Draw = new(boottime.Clock), func(time.Duration) time.Duration { return 0 }
	return req
}

func entered(name string) lock.Request {
	req := wanting(name)
	req.History = 20
	return req
}

func ofSlot(name string) lock.Request {
	req := entered(name)
	req.Slot = lock.Slot{Name: "5m 2026-03-01T12:05Z", Tries: 2}
	return req
}

// hold takes a lock, renews it, and gives it back as end says.
func hold(t *testing.T, s lock.Store, req lock.Request, end lock.ReleaseRequest) {
	t.Helper()
	held := locktest.Acquire(t, s, req)
	locktest.Renew(t, held)
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), end))
}

// succeed has a run wait for another, and then has it end as end says.
func succeed(t *testing.T, s lock.Store, on *served, req lock.Request, end lock.ReleaseRequest) {
	t.Helper()
	held := locktest.Acquire(t, s, entered(req.Name))
	got := make(chan error, 1)
	req.Wait.Limit = lock.Forever
	go func() {
		l, err := s.Acquire(context.Background(), req)
		if err == nil {
			err = l.Release(context.Background(), end)
		}
		got <- err
	}()
	locktest.Until(t, "somebody waits", func() bool {
		on.mu.Lock()
		defer on.mu.Unlock()
		n, _ := on.Do("ZCARD", locktest.LockKey(req.Name)+":queue")
		return n == int64(1)
	})
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), good()))
	locktest.Must(t, <-got)
}

// retaken has a run take its lock back.
func retaken(t *testing.T, s lock.Store, on *served, req lock.Request) {
	t.Helper()
	held := locktest.Acquire(t, s, req)
	on.mu.Lock()
	on.Do("DEL", locktest.LockKey(req.Name))
	on.mu.Unlock()
	_, err := held.(lock.Retaker).Retake(locktest.Limited(t, locktest.Patience))
	locktest.Must(t, err)
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
}

// looked has the holder of a gate look who has some permits.
func looked(t *testing.T, s lock.Store) {
	t.Helper()
	gate := locktest.Acquire(t, s, wanting(lock.GateOf("job")))
	permit := locktest.Acquire(t, s, wanting(lock.PermitOf("job", 2)))
	held, _, err := gate.(lock.Looker).Look(locktest.Limited(t, locktest.Patience), lock.PermitsOf("job", 3))
	if locktest.Must(t, err); held[0] != nil || held[1] == nil {
		t.Errorf("permits: %+v", held)
	}
	for _, l := range []lock.Lease{permit, gate} {
		locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	}
}

// printed has a run end badly, and keeps what its command printed.
func printed(t *testing.T, s lock.Store) {
	t.Helper()
	held := locktest.Acquire(t, s, entered("job"))
	end := bad()
	end.Keep, end.OutputFollows = 0, true
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), end))
	o := lock.Output{End: lock.EndFailed, Status: 7, Attempt: 2, Total: 3, Tail: []byte("no\n")}
	locktest.Must(t, held.(lock.OutputKeeper).KeepOutput(locktest.Limited(t, locktest.Patience), o))
}

func lineSteps(t *testing.T, open func() *served) {
	on := open()
	s := opened(t, on)
	hold(t, s, wanting("job"), lock.ReleaseRequest{})
	printed(t, s)
	looked(t, s)
	hold(t, s, entered("job"), good())
	retaken(t, s, on, entered("job"))
	succeed(t, s, on, entered("job"), bad())
	locktest.MustBeBusy(t, s, "job")
	limited := entered("job")
	limited.Wait = lock.Wait{Limit: 1, Max: 3}
	limited.IgnorePause = true
	if _, err := s.Acquire(t.Context(), limited); err == nil {
		t.Error("a lock that is kept was given")
	}
}

func lineStepsOfSlots(t *testing.T, open func() *served) {
	on := open()
	s := opened(t, on)
	hold(t, s, ofSlot("job"), lock.ReleaseRequest{})
	retaken(t, s, on, ofSlot("job"))
	succeed(t, s, on, ofSlot("job"), good())
	other := ofSlot("job")
	other.Slot.Name, other.Slot.Tries = "once", 1
	hold(t, s, other, lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 1, Attempts: 1}})
}

// acts are all that operators do.
func acts() (all []lock.Change) {
	for _, act := range []lock.Act{lock.ActPause, lock.ActResume, lock.ActStop, lock.ActUnlock, lock.ActForget} {
		all = append(all, locktest.ChangeFor(act))
	}
	again := slices.Clone(all)
	again[0].For, again[2].ThenPause, again[3].OnlyEnded = lock.Forever, true, true
	again[1].MatchReason, again[1].PauseReason = true, "deploy 7"
	return append(all, again...)
}

// operate does all of it to a job, some of it in vain.
func operate(t *testing.T, o lock.Operator, runs func() string) {
	t.Helper()
	for _, c := range acts() {
		if c.Run = ""; c.Act == lock.ActStop || c.Act == lock.ActUnlock {
			c.Run = runs()
		}
		o.Change(locktest.Limited(t, locktest.Patience), "job", c)
	}
	o.Change(locktest.Limited(t, locktest.Patience), "other", locktest.ChangeFor(lock.ActForget))
}

func lineStepsOfOperators(t *testing.T, open func() *served) {
	on := open()
	s := opened(t, on)
	o, err := line.OpenOperator(on.servers(), lock.Inspection{})
	locktest.Must(t, err)
	operate(t, o, func() string {
		req := entered("job")
		s.Acquire(t.Context(), req)
		return req.Holder.Run
	})
}

func lineLooks(t *testing.T, open func() *served) {
	on := open()
	hold(t, opened(t, on), ofSlot("job"), bad())
	in, err := line.OpenInspector(on.servers(), lock.Inspection{})
	locktest.Must(t, err)
	look(t, in)
}

func look(t *testing.T, in lock.Inspector) {
	t.Helper()
	ctx := locktest.Limited(t, locktest.Patience)
	_, err := in.Names(ctx, false)
	locktest.Must(t, err)
	_, err = in.Names(ctx, true)
	locktest.Must(t, err)
	_, err = in.Jobs(ctx, []string{"job", "other"})
	locktest.Must(t, err)
	_, err = in.JobsWithRuns(ctx, []string{"job"})
	locktest.Must(t, err)
	_, err = in.Job(ctx, "job")
	locktest.Must(t, err)
	_, err = in.Runs(ctx, "job", true)
	locktest.Must(t, err)
	_, err = in.Outputs(ctx, []string{"job"}, 1)
	locktest.Must(t, err)
}

func opened(t *testing.T, on *served) lock.Store {
	t.Helper()
	s, err := line.Open(on.servers())
	locktest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// masters are three models behind one dialer.
func masters(open func() *served) (on []*served, cfg lock.Servers) {
	at := map[string]*served{}
	for i := range 3 {
		one := open()
		on, at[fmt.Sprintf("m%d:1", i)] = append(on, one), one
		cfg.URLs = append(cfg.URLs, fmt.Sprintf("redis://m%d:1", i))
	}
	cfg.Prefix, cfg.Durable = lock.DefaultPrefix, true
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return at[addr].dial(ctx, network, addr)
	}
	return on, cfg
}

func quorumSteps(t *testing.T, open func() *served) {
	on, cfg := masters(open)
	s, err := quorum.Open(cfg)
	locktest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	hold(t, s, wanting("job"), lock.ReleaseRequest{})
	hold(t, s, entered("job"), good())
	looked(t, s)
	ahead(on[0], locktest.LockKey("job")+":fence")
	held := locktest.Acquire(t, s, ofSlot("job"))
	on[1].empty()
	locktest.Renew(t, held)
	synctest.Wait()
	locktest.Must(t, held.Release(locktest.Limited(t, locktest.Patience), bad()))
	cfg.Durable = false
	settled, err := quorum.Open(cfg)
	locktest.Must(t, err)
	t.Cleanup(func() { settled.Close() })
	if l, err := settled.Acquire(t.Context(), entered("other")); err == nil {
		t.Error("masters that were just started have voted", l.Fence())
	}
}

// ahead has a counter be far ahead.
func ahead(on *served, key string) {
	on.mu.Lock()
	defer on.mu.Unlock()
	on.Do("SET", key, int64(1<<52))
}

func (s *served) empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Do("FLUSHALL")
}

func quorumStepsOfOperators(t *testing.T, open func() *served) {
	_, cfg := masters(open)
	s, err := quorum.Open(cfg)
	locktest.Must(t, err)
	t.Cleanup(func() { s.Close() })
	o, err := quorum.OpenOperator(cfg, lock.Inspection{})
	locktest.Must(t, err)
	operate(t, o, func() string {
		req := entered("job")
		s.Acquire(t.Context(), req)
		return req.Holder.Run
	})
	resumeWithoutOne(t, o, cfg)
	s.Acquire(t.Context(), entered("job")) // which tells it
	in, err := quorum.OpenInspector(cfg, lock.Inspection{})
	locktest.Must(t, err)
	look(t, in)
}

// resumeWithoutOne ends a pause while a master is away.
func resumeWithoutOne(t *testing.T, o lock.Operator, cfg lock.Servers) {
	t.Helper()
	_, err := o.Change(locktest.Limited(t, locktest.Patience), "job", locktest.ChangeFor(lock.ActPause))
	if err != nil {
		t.Error(err)
	}
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == "m2:1" {
			return nil, syscall.ECONNREFUSED
		}
		return dial(ctx, network, addr)
	}
	two, err := quorum.OpenOperator(cfg, lock.Inspection{})
	locktest.Must(t, err)
	out, err := two.Change(locktest.Limited(t, locktest.Patience), "job", locktest.ChangeFor(lock.ActResume))
	if err != nil || len(out.Absent) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestEveryScriptIsInAStepThatWasRecorded(t *testing.T) {
	var texts []string
	for _, s := range recorded(t) {
		texts = append(texts, s.text)
	}
	for _, room := range []string{"step", "line", "quorum", "ledger", "inspect"} {
		files, err := filepath.Glob("../../../lock/" + room + "/*.lua")
		locktest.Must(t, err)
		for _, file := range files {
			script, err := os.ReadFile(file)
			locktest.Must(t, err)
			sent := link.Assemble(string(script))
			if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, sent) }) {
				t.Errorf("%s is in none", file)
			}
		}
	}
}

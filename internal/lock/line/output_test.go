package line_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// fail makes a run of the lock "job" that fails and has printed text, and returns its id and why that was not kept.
func fail(t *testing.T, s lock.Store, text string) (run string, err error) {
	t.Helper()
	req := locktest.RequestFor("job")
	req.History = 50
	l := locktest.Acquire(t, s, req)
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 3, Attempts: 2}, OutputFollows: true}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	o := lock.Output{End: lock.EndFailed, Status: 3, Attempt: 2, Total: int64(len(text)) + 7, Tail: []byte(text)}
	return req.Holder.Run, l.(lock.OutputKeeper).KeepOutput(locktest.Limited(t, locktest.Patience), o)
}

func outputs(t *testing.T, srv *redistest.Server) (all []lock.Output) {
	t.Helper()
	for _, text := range locktest.Do(t, srv, "LRANGE", jobKey+":output", 0, -1).([]any) {
		o, ok := wire.ReadOutput(text.(string))
		if !ok {
			t.Errorf("%.60q is no output", text)
		}
		all = append(all, o)
	}
	return all
}

func TestTheOutputOfARunIsKeptAsItWasPrinted(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	const text = "one\n\x00\xff\x1b[31m two\nthree\nfour\n"
	run, err := fail(t, s, text)
	locktest.Must(t, err)
	all := outputs(t, srv)
	if len(all) != 1 || string(all[0].Tail) != text || all[0].Run != run || all[0].Host != "web-3" ||
		all[0].End != lock.EndFailed ||
		all[0].Status != 3 || all[0].Attempt != 2 || all[0].Total != int64(len(text))+7 {
		t.Errorf("%+v", all)
	}
	tail := locktest.Do(t, srv, "HGET", jobKey+":job", "tail")
	if want := wire.TailText(lock.Tail{Run: run, Text: "\x00\uFFFD\x1b[31m two\nthree\nfour"}); tail != want {
		t.Errorf("the job has the tail %q, not %q", tail, want)
	}
	if left := locktest.Do(t, srv, "PTTL", jobKey+":output").(int64); left <= 0 ||
		left > wire.OutputRemembered.Milliseconds() {
		t.Errorf("it lives for %d ms", left)
	}
}

func TestOfAJobTenOutputsAnd128KiBAreKept(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	for n := range 12 {
		_, err := fail(t, s, fmt.Sprint(n))
		locktest.Must(t, err)
	}
	if all := outputs(t, srv); len(all) != 10 || string(all[0].Tail) != "11" || string(all[9].Tail) != "2" {
		t.Errorf("%+v", all)
	}
	for _, want := range []int{10, 2, 2} { // small ones have room beside one large one
		_, err := fail(t, s, strings.Repeat("x", lock.MaxOutput))
		locktest.Must(t, err)
		if n := len(outputs(t, srv)); n != want {
			t.Errorf("%d outputs are kept, not %d", n, want)
		}
	}
	// What somebody else has put there counts, but never drives out the newest.
	locktest.Do(t, srv, "DEL", jobKey+":output")
	locktest.Do(t, srv, "LPUSH", jobKey+":output", bytes.Repeat([]byte("x"), 1<<20))
	_, err := fail(t, s, "the newest")
	locktest.Must(t, err)
	if all := outputs(t, srv); len(all) != 1 || string(all[0].Tail) != "the newest" {
		t.Errorf("%+v", all)
	}
}

func TestAnOutputIsKeptOnce(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	req := locktest.RequestFor("job")
	l := locktest.Acquire(t, s, req)
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{OutputFollows: true}))
	for _, text := range []string{"first", "second"} {
		o := lock.Output{End: lock.EndFailed, Attempt: 1, Total: 9, Tail: []byte(text)}
		locktest.Must(t, l.(lock.OutputKeeper).KeepOutput(locktest.Limited(t, locktest.Patience), o))
	}
	if all := outputs(t, srv); len(all) != 1 || string(all[0].Tail) != "first" {
		t.Errorf("%+v", all)
	}
}

// A server without room takes the release, and nothing more: the output is the last that it needs.
func TestAServerWithoutMemoryKeepsNoOutput(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	req := locktest.RequestFor("job")
	req.History = 50
	l := locktest.Acquire(t, s, req)
	locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
	end := lock.ReleaseRequest{Result: lock.RunResult{End: lock.EndFailed, Status: 3, Attempts: 1}, OutputFollows: true}
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	o := lock.Output{End: lock.EndFailed, Total: 4, Tail: []byte("text")}
	err := l.(lock.OutputKeeper).KeepOutput(locktest.Limited(t, locktest.Patience), o)
	if locktest.MustBeUnavailable(t, err); !strings.Contains(err.Error(), "memory") {
		t.Error(err)
	}
	locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "0")
	if n := locktest.Do(t, srv, "EXISTS", jobKey+":output"); n != int64(0) {
		t.Error("an output is kept")
	}
	if tail := locktest.Do(t, srv, "HGET", jobKey+":job", "tail"); tail != nil {
		t.Errorf("a tail is kept: %q", tail)
	}
}

// TestWithoutOneRightTheOutputsStayBounded: whichever command is refused, the release is as before, and the list does
// not
// grow with each run.
func TestWithoutOneRightTheOutputsStayBounded(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	for _, command := range []string{"lindex", "lpush", "ltrim", "hset"} {
		locktest.Do(t, srv, "FLUSHALL")
		locktest.Do(t, srv, "ACL", "SETUSER", "some", "on", ">pw", "~*", "&*", "+@all", "-"+command)
		s := open(t, strings.Replace(srv.URL(), "redis://", "redis://some:pw@", 1))
		for range 15 {
			if _, err := fail(t, s, "text"); !locktest.MustBeUnavailable(t, err).Denied {
				t.Errorf("without %s: %v", command, err)
			}
		}
		most := map[string]int64{"ltrim": wire.MostOutputs + 1, "hset": wire.MostOutputs}[command]
		if n := locktest.Do(t, srv, "LLEN", jobKey+":output").(int64); n != most {
			t.Errorf("without %s %d outputs are kept, not %d", command, n, most)
		}
		if left := locktest.Do(t, srv, "PTTL", jobKey+":output").(int64); left == -1 {
			t.Errorf("without %s they stay for ever", command)
		}
	}
}

func TestForgetRemovesTheOutputs(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	_, err := fail(t, s, "text")
	locktest.Must(t, err)
	if !change(t, operating(t, srv.URL()), desk(lock.ActForget)).Done {
		t.Error("there was nothing to forget")
	}
	onlyFence(t, srv)
}

package quorum

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// failed is a lease whose run has failed, and given the lock back, and is about to keep its output.
func failed(t *testing.T, s lock.Store) (lease lock.OutputKeeper, run string) {
	t.Helper()
	req := entered()
	l := acquireWhole(t, s, req)
	end := endedBy(lock.EndFailed, 3)
	end.OutputFollows = true
	locktest.Must(t, l.Release(locktest.Limited(t, locktest.Patience), end))
	return l.(lock.OutputKeeper), req.Holder.Run
}

func anOutput(text string) lock.Output {
	return lock.Output{End: lock.EndFailed, Status: 3, Attempt: 1, Total: int64(len(text)), Tail: []byte(text)}
}

// has reports whether a server has kept the output of a run.
func has(t *testing.T, s *redistest.Server, run, text string) bool {
	t.Helper()
	kept, _ := locktest.Do(t, s, "LINDEX", jobKey+":output", 0).(string)
	o, ok := wire.ReadOutput(kept)
	tail := wire.TailText(lock.Tail{Run: run, Text: text})
	return ok && o.Run == run && string(o.Tail) == text && jobOf(t, s)["tail"] == tail
}

func TestEachMasterKeepsTheOutput(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	l, run := failed(t, s)
	locktest.Must(t, l.KeepOutput(locktest.Limited(t, time.Second), anOutput("text")))
	for _, srv := range all {
		locktest.Until(t, "it is kept", func() bool { return has(t, srv, run, "text") })
	}
	made(t, operating(t, all.urls()), desk(lock.ActForget))
	all.mustKeepOnly(t)
}

// A master that is frozen costs no second: two of three have it.
func TestAFrozenMasterDoesNotDelayTheOutput(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	l, run := failed(t, s)
	locktest.Must(t, all[1].Signal(syscall.SIGSTOP))
	defer all[1].Signal(syscall.SIGCONT)
	ctx := locktest.Limited(t, locktest.Patience)
	locktest.Must(t, l.KeepOutput(ctx, anOutput("text")))
	if ctx.Err() != nil || !has(t, all[0], run, "text") || !has(t, all[2], run, "text") {
		t.Error("it is not kept by the others")
	}
}

func TestAnOutputThatNoMajorityKeepsIsAnError(t *testing.T) {
	t.Parallel()
	all, s := startDurable(t, 3)
	l, _ := failed(t, s)
	all[0].Kill()
	all[2].Kill()
	err := l.KeepOutput(locktest.Limited(t, time.Second), anOutput("text"))
	if err == nil || !strings.Contains(err.Error(), "kept by 1 of 3 masters") {
		t.Errorf("%v", err)
	}
}

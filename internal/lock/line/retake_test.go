package line_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// retake makes one try to have a lock again.
func retake(t *testing.T, l lock.Lease) error {
	t.Helper()
	_, err := l.(lock.Retaker).Retake(locktest.Limited(t, locktest.Patience))
	return err
}

func wantRetaken(t *testing.T, l lock.Lease) {
	t.Helper()
	locktest.Must(t, retake(t, l))
	locktest.Renew(t, l)
}

// wantNotRetaken wants the answer that the lock is another's, and nothing changed by it.
func wantNotRetaken(t *testing.T, srv *redistest.Server, l lock.Lease) {
	t.Helper()
	before := locktest.Do(t, srv, "GET", jobKey)
	if err := retake(t, l); !errors.Is(err, lock.ErrLost) {
		t.Errorf("retaken: %v", err)
	}
	if after := locktest.Do(t, srv, "GET", jobKey); after != before {
		t.Errorf("the lock was %v, and is %v", before, after)
	}
}

func TestALockThatNobodyHadSinceIsTakenBackAsItWas(t *testing.T) {
	t.Parallel()
	srv, s, l := holding(t)
	waiting, stop := park(t, srv, s, waits("job", lock.Forever), 1)
	before, fence := locktest.Do(t, srv, "GET", jobKey), locktest.Do(t, srv, "GET", jobKey+":fence")
	for range 2 { // a retake may be repeated
		locktest.Do(t, srv, "DEL", jobKey)
		wantRetaken(t, l)
		wantRetaken(t, l)
	}
	if after := locktest.Do(t, srv, "GET", jobKey); after != before {
		t.Errorf("the record was %v, and is %v", before, after)
	}
	if after := locktest.Do(t, srv, "GET", jobKey+":fence"); after != fence {
		t.Errorf("the fence was %v, and is %v", fence, after)
	}
	wantInLine(t, srv, 1)
	release(t, l)
	release(t, lease(t, waiting))
	stop(nil)
	onlyFence(t, srv)
}

// The record of a run that has waited has a field more.
func TestARunThatHasWaitedTakesItsLockBackAsItWas(t *testing.T) {
	t.Parallel()
	srv, s, first := holding(t)
	waiting, _ := park(t, srv, s, waits("job", lock.Forever), 1)
	release(t, first)
	l := lease(t, waiting)
	before := locktest.Do(t, srv, "GET", jobKey)
	locktest.Do(t, srv, "DEL", jobKey)
	wantRetaken(t, l)
	if after := locktest.Do(t, srv, "GET", jobKey); after != before || !strings.Contains(before.(string), `"asked":`) {
		t.Errorf("the record was %v, and is %v", before, after)
	}
	release(t, l)
}

func TestALockThatAnotherHasOrHadIsNotTakenBack(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*testing.T, *redistest.Server, lock.Store){
		"another has it": func(t *testing.T, _ *redistest.Server, s lock.Store) {
			locktest.Acquire(t, s, locktest.RequestFor("job"))
		},
		"another had it": func(t *testing.T, _ *redistest.Server, s lock.Store) {
			release(t, locktest.Acquire(t, s, locktest.RequestFor("job")))
		},
		"somebody wrote there": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "SET", jobKey, "somebody")
		},
		"a newer release claims it": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "SET", jobKey+":fence", "7 p2")
		},
		"the data are lost": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "FLUSHALL")
		},
		"the counter is lost": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "DEL", jobKey+":fence")
		},
		"the counter is no number": func(t *testing.T, srv *redistest.Server, _ lock.Store) {
			locktest.Do(t, srv, "SET", jobKey+":fence", "many")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := redistest.Start(t, redistest.Options{})
			s := open(t, srv.URL())
			l := locktest.Acquire(t, s, locktest.RequestFor("job"))
			locktest.Do(t, srv, "DEL", jobKey)
			between(t, srv, s)
			wantNotRetaken(t, srv, l)
		})
	}
}

func TestALockThatAnOperatorTookIsNotTakenBack(t *testing.T) {
	t.Parallel()
	srv, _, l := holding(t)
	unlock := desk(lock.ActUnlock)
	unlock.Run = locktest.HolderOf(fmt.Sprint(locktest.Do(t, srv, "GET", jobKey))).Run
	change(t, operating(t, srv.URL()), unlock)
	wantNotRetaken(t, srv, l)
}

func TestAPauseKeepsALockFromBeingTakenBack(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} { // the pause is wanted while the lock is held, or when it is free
		srv, _, l := holding(t)
		o := operating(t, srv.URL())
		if !later {
			change(t, o, desk(lock.ActPause))
		}
		locktest.Do(t, srv, "DEL", jobKey)
		if later {
			change(t, o, desk(lock.ActPause))
		}
		for range 2 {
			if err := retake(t, l); !errors.Is(err, lock.ErrPaused) || errors.Is(err, lock.ErrLost) {
				t.Errorf("paused: %v", err)
			}
		}
		if held, _ := locktest.Do(t, srv, "GET", jobKey).(string); wire.ReadPause(held) == nil {
			t.Errorf("the lock is %q, and not the pause's", held)
		}
		change(t, o, desk(lock.ActResume))
		wantRetaken(t, l)
		release(t, l)
	}
}

func TestARunThatIgnoresPausesTakesItsLockBack(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	req := locktest.RequestFor("job")
	req.IgnorePause = true
	l := locktest.Acquire(t, s, req)
	locktest.Do(t, srv, "DEL", jobKey)
	change(t, operating(t, srv.URL()), desk(lock.ActPause))
	wantRetaken(t, l)
}

func TestARetakeThatComesLateTakesNothing(t *testing.T) {
	t.Parallel()
	srv, _, l := holding(t)
	run := locktest.HolderOf(fmt.Sprint(locktest.Do(t, srv, "GET", jobKey))).Run
	locktest.Do(t, srv, "DEL", jobKey)
	locktest.Do(t, srv, "SET", jobKey+":gone:"+run, "1", "PX", wire.Tombstone.Milliseconds())
	wantNotRetaken(t, srv, l)
}

// What got no answer is still under way when the run has ended: the release leaves a tombstone.
func TestARetakeWithoutAnAnswerLeavesATombstone(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	run := locktest.HolderOf(fmt.Sprint(locktest.Do(t, srv, "GET", jobKey))).Run
	locktest.Do(t, srv, "DEL", jobKey)
	p.LoseReply("by_pause") // of the retake
	if err := retake(t, l); err == nil || errors.Is(err, lock.ErrLost) {
		t.Errorf("without an answer: %v", err)
	}
	wantRetaken(t, l)
	release(t, l)
	if locktest.Do(t, srv, "EXISTS", jobKey+":gone:"+run) != int64(1) {
		t.Error("there is no tombstone")
	}
}

func TestAServerOutOfMemoryLetsALockBeTakenBack(t *testing.T) {
	t.Parallel()
	srv, _, l := holding(t)
	locktest.Do(t, srv, "DEL", jobKey)
	locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
	wantRetaken(t, l)
}

func TestAReplicaDoesNotSayWhetherALockCanBeTakenBack(t *testing.T) {
	t.Parallel()
	srv, s, l := holding(t)
	locktest.Do(t, srv, "DEL", jobKey)
	release(t, locktest.Acquire(t, s, locktest.RequestFor("job")))
	locktest.Do(t, srv, "REPLICAOF", "127.0.0.1", "1")
	locktest.MustBeUnavailable(t, retake(t, l))
	locktest.Do(t, srv, "REPLICAOF", "NO", "ONE")
	wantNotRetaken(t, srv, l)
}

func TestTheRightsOfAJobSufficeToTakeItsLockBack(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	permit(t, []*redistest.Server{srv}, strings.Fields(lock.MinimalACL)...)
	l := locktest.Acquire(t, open(t, strings.Replace(srv.URL(), "://", "://jobs:pw@", 1)), locktest.RequestFor("job"))
	locktest.Do(t, srv, "DEL", jobKey)
	wantRetaken(t, l)
	release(t, l)
}

// A job may be forgotten while its lock is away: the run is entered again.
func TestARunThatWasForgottenIsEnteredAgain(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	got := s.code(s.once("a"), 1)
	s.vanish()
	s.do("DEL", "{n}:job", "{n}:runs", "{n}:bad")
	s.code(s.retake("a", got), 2)
	if open := s.entry("open"); open.Run != testID("a") || open.Fence != got[1] {
		t.Errorf("open: %+v", open)
	}
	s.end("a", 0, 0, "ok", 0)
	s.wantEntries("a ok", "")
}

// The entry of a run is open while its lock is away, so a retake ends what looked like a run that has vanished.
func TestARunThatTookItsLockBackHasNotVanished(t *testing.T) {
	t.Parallel()
	s := remembering(t)
	got := s.code(s.once("a"), 1)
	s.vanish()
	s.code(s.retake("a", got), 2)
	s.code(s.once("b"), 0)
	s.end("a", 0, 0, "ok", 0)
	s.code(s.once("b"), 1)
	s.wantEntries("a ok", "")
}

func TestASlotGoesOnWithALockThatWasTakenBack(t *testing.T) {
	t.Parallel()
	s := slotted(t)
	s.tries = 1
	got := s.code(s.once("a"), 1)
	s.vanish()
	s.code(s.once("b"), 7) // it has vanished, as far as b knows
	s.code(s.retake("a", got), 2)
	s.end("a", 0, 0, "ok", 0)
	if state := s.state(); !state.Closed || s.failures() != "" {
		t.Errorf("the slot: %+v", state)
	}
}

// retake is the step of a run that has got a lock.
func (s steps) retake(run string, got []any) []any {
	s.t.Helper()
	record := strings.TrimSuffix(testRecord(run), "}") + fmt.Sprintf(`,"fence":%d,"at":%d}`, got[1], got[2])
	return s.eval(s.text("retake"), run, testTTL, record, got[1], s.ignoresPauses).([]any)
}

func TestALockIsTakenBackOnceReplicasHaveIt(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t, redistest.SentinelOptions{Replicas: 1})
	p := sentinelPlace(s)
	p.cfg.Replicas, p.cfg.ReplicasTimeout = 1, locktest.Patience
	l := locktest.Acquire(t, p.open(t), locktest.RequestFor("job"))
	replica := s.Data[1]
	locktest.Must(t, replica.Signal(syscall.SIGSTOP))
	locktest.Do(t, s.Data[0], "DEL", jobKey)
	for range 2 { // the renewal that follows does not count either
		if err := retake(t, l); !errors.Is(err, lock.ErrFewReplicas) {
			t.Errorf("without its replica: %v", err)
		}
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrFewReplicas) {
			t.Errorf("renewed without its replica: %v", err)
		}
	}
	locktest.Must(t, replica.Signal(syscall.SIGCONT))
	wantRetaken(t, l)
	release(t, l)
}

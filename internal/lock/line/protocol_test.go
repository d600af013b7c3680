package line_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// newerRecord is the record of a run of a release that is ahead of this one.
func newerRecord(run string) string {
	return fmt.Sprintf(`{"run":"%s","v":%d,"what":{"is":"new"},"host":"next","pid":1,"user":"u","cmd":"c",`+
		`"start":1,"more":[1],"fence":7,"at":1000}`, run, wire.Protocol+1)
}

func TestFloorsOfAFence(t *testing.T) {
	s := newSteps(t)
	for _, c := range locktest.Floors() {
		s.do("SET", "{n}:fence", c.Fence)
		before := s.do("DUMP", "{n}:fence")
		got := s.once("a")
		if fmt.Sprint(got[0]) != fmt.Sprint(c.Code) || c.Code == -3 && got[1] != c.Protocol {
			t.Errorf("%q is answered %v", c.Fence, got)
		}
		if c.Code != 1 && (s.do("DUMP", "{n}:fence") != before || s.do("DBSIZE") != int64(1)) {
			t.Errorf("%q: something was written", c.Fence)
		}
		if c.Code == 1 && s.do("GET", "{n}:fence") != fmt.Sprint(got[1]) {
			t.Errorf("%q has become %q", c.Fence, s.do("GET", "{n}:fence"))
		}
		s.do("FLUSHALL")
	}
}

func FuzzFloorsOfAFence(f *testing.F) {
	srv := redistest.Start(f, redistest.Options{})
	locktest.FuzzFloors(f, func(t *testing.T, fence string) (code, protocol int64) {
		s := steps{t: t, server: srv, text: line.Present}
		s.do("FLUSHALL")
		s.do("SET", "{n}:fence", fence)
		reply := s.once("a")
		if reply[0] == int64(-3) {
			protocol = reply[1].(int64)
		}
		return reply[0].(int64), protocol
	})
}

// A release that is not held back takes what an older one leaves.
func TestALineOfTwoReleasesGoesOnBehindAFloor(t *testing.T) {
	s := newLine(t, "a")
	first, _ := s.listen("b")
	s.look("b")
	_, stop := s.listen("c")
	s.look("c")
	second, _ := s.listen("d")
	s.look("d")
	s.join("e")
	stop()
	s.do("SET", "{n}:fence", "1763790000000 p2")
	s.release("a")
	for m := first(); m != "g"; m = first() {
	}
	s.want("", "bcde") // nobody is passed over by who knows nothing of this fence
	s.code(s.look("b"), -3)
	s.release("b")
	for m := second(); m != "g"; m = second() {
	}
	s.want("", "cde")
	next := strings.Replace(s.text("acquire"), "tonumber(floor) > 1", "tonumber(floor) > 2", 1)
	s.code(s.eval(next, "d", testRecord("d"), testTTL, "wait", 0).([]any), 1)
	s.want("d", "e")
}

func TestWhoWaitsBehindAFloorIsToldOnItsTurn(t *testing.T) {
	srv, s, held := holding(t)
	var waiting []<-chan result
	for i := range 3 {
		done, _ := park(t, srv, s, waits("job", lock.Forever), int64(i+1))
		waiting = append(waiting, done)
	}
	locktest.Do(t, srv, "SET", jobKey+":fence", "1763790000000 p2")
	locktest.MustBeBusy(t, s, "job")
	began := time.Now()
	release(t, held)
	for _, done := range waiting {
		var newer *lock.NewerError
		if r := got(t, done); !errors.As(r.err, &newer) || *newer != (lock.NewerError{Name: "job", Protocol: 2}) {
			t.Errorf("%v, %v", r.lease, r.err)
		}
	}
	if d := time.Since(began); d > 4*time.Second {
		t.Errorf("they were told after %s: they looked by themselves", d)
	}
	onlyFence(t, srv)
	if got := locktest.Do(t, srv, "GET", jobKey+":fence"); got != "1763790000000 p2" {
		t.Errorf("the fence has become %v", got)
	}
}

func TestALockOfANewerReleaseIsBusyAndMayBeWaitedFor(t *testing.T) {
	srv, s := served(t)
	run := lock.NewRunID()
	locktest.Do(t, srv, "SET", jobKey, newerRecord(run), "PX", 1000)
	if held := locktest.MustBeBusy(t, s, "job"); held.Holder.Run != run || held.Holder.Host != "next" ||
		held.Holder.Protocol != wire.Protocol+1 || held.Since.IsZero() {
		t.Errorf("%+v", held)
	}
	l := locktest.Acquire(t, s, waits("job", lock.Forever))
	locktest.Renew(t, l)
	locktest.Do(t, srv, "SET", jobKey, newerRecord(run), "PX", 60_000)
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("renewed: %v", err)
	}
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); !errors.Is(err, lock.ErrTaken) {
		t.Errorf("released: %v", err)
	}
	if got := locktest.Do(t, srv, "GET", jobKey); got != newerRecord(run) {
		t.Errorf("the record has become %v", got)
	}
}

// What a newer release has written of a run is the run's all the same.
func TestARunOfANewerReleaseIsKnownByItsID(t *testing.T) {
	s := newLine(t, "a")
	s.listen("b")
	record := newerRecord(testID("b"))
	record = strings.TrimSuffix(record, `,"fence":7,"at":1000}`) + "}"
	s.code(s.eval(s.text("acquire"), "b", record, testTTL, "wait", 0, 0, 0).([]any), 0)
	s.join("c")
	s.release("a")
	s.want("b", "c")
	s.code(s.confirm("b"), 2)
	h, since := wire.ReadRecord(s.do("GET", "{n}").(string), time.Now().UnixMilli(), nil)
	if h.Protocol != wire.Protocol+1 || h.Host != "next" || since.IsZero() {
		t.Errorf("%+v since %v", h, since)
	}
	s.code(s.look("b"), 2)
	if got := s.release("b"); got != int64(wire.Own) {
		t.Errorf("release: %v", got)
	}
	s.want("c", "")
	s.release("c")
	if got := s.keys(); !slices.Equal(got, []string{"{n}:fence"}) {
		t.Errorf("left: %v", got)
	}
}

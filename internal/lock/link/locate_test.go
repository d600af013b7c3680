package link

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

// A voice is what one of several servers says, after a time.
type voice struct {
	after time.Duration // negative: never
	addr  string        // "": an error
	epoch int64
}

// locating returns what locate finds, and after how long.
func locating(t *testing.T, answers []voice) (addr string, took time.Duration, err error) {
	t.Helper()
	var hosts []string
	for i := range answers {
		hosts = append(hosts, fmt.Sprint(i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	addr, err = locate(ctx, hosts, func(ctx context.Context, host string) vote {
		a := answers[host[0]-'0']
		after := time.After(a.after)
		if a.after < 0 {
			after = nil
		}
		select {
		case <-ctx.Done():
			return vote{from: host, err: ctx.Err()}
		case <-after:
		}
		if a.addr == "" {
			return vote{from: host, err: errors.New("down")}
		}
		return vote{from: host, addr: a.addr, epoch: a.epoch}
	})
	return addr, time.Since(start), err
}

func TestOneHungSentinelOfThreeAddsLessThan100ms(t *testing.T) {
	const never = -1
	for _, c := range []struct {
		what    string
		answers []voice
		want    string
		within  time.Duration
	}{
		{"all well", []voice{{1 * ms, "a", 0}, {2 * ms, "a", 0}, {3 * ms, "a", 0}}, "a", 2 * ms},
		{"one hangs", []voice{{never, "", 0}, {1 * ms, "a", 0}, {2 * ms, "a", 0}}, "a", 2 * ms},
		{"one lies first", []voice{{0, "lie", 9}, {1 * ms, "a", 1}, {2 * ms, "a", 1}}, "a", 2 * ms},
		{"one is down", []voice{{0, "", 0}, {1 * ms, "a", 0}, {2 * ms, "a", 0}}, "a", 2 * ms},
		{"one is down, one hangs", []voice{{0, "", 0}, {never, "", 0}, {2 * ms, "a", 0}}, "a", 2*ms + secondVote},
		{"two are down", []voice{{0, "", 0}, {0, "", 0}, {2 * ms, "a", 0}}, "a", 2 * ms},
		{"two hang", []voice{{never, "", 0}, {never, "", 0}, {2 * ms, "a", 0}}, "a", 2*ms + secondVote},
		{"one is stale, one is down", []voice{{1 * ms, "old", 1}, {0, "", 0}, {2 * ms, "a", 2}}, "a", 2 * ms},
		{"one is stale, one hangs", []voice{{1 * ms, "old", 1}, {never, "", 0}, {2 * ms, "a", 2}}, "a",
			1*ms + secondVote},
		{"only one is named", []voice{{5 * ms, "a", 0}}, "a", 5 * ms},
		{"two of five agree", []voice{{1 * ms, "x", 9}, {1 * ms, "a", 1}, {1 * ms, "a", 1}, {never, "", 0},
			{never, "", 0}},
			"a", 1*ms + secondVote},
		{"a slow majority within the moment", []voice{{0, "lie", 9}, {40 * ms, "a", 1}, {45 * ms, "a", 1}}, "a",
			45 * ms},
	} {
		synctest.Test(t, func(t *testing.T) {
			addr, took, err := locating(t, c.answers)
			if err != nil || addr != c.want || took > c.within {
				t.Errorf("%s: %q after %s, %v; want %q within %s", c.what, addr, took, err, c.want, c.within)
			}
		})
	}
}

func TestNobodyKnowsOnlyWhenAllHaveSaidSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, took, err := locating(t, []voice{{0, "", 0}, {-1, "", 0}, {0, "", 0}})
		var nowhere *nowhereError
		if !errors.As(err, &nowhere) || took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %s: %v", took, err)
		}
		if said := nowhere.say(error.Error); said != "0: down; 1: context deadline exceeded; 2: down" {
			t.Error(said)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, took, err := locating(t, []voice{{0, "", 0}, {0, "", 0}})
		if took != 0 || err.(*nowhereError).say(error.Error) != "down" {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestSilentSentinelsAreNotWaitedForAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*ms, cancel)
		start := time.Now()
		_, err := locate(ctx, []string{"a", "b"}, func(ctx context.Context, host string) vote {
			<-ctx.Done()
			return vote{from: host, err: ctx.Err()}
		})
		if took := time.Since(start); took != 10*ms || !errors.Is(err, context.Canceled) {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestRedirectsAreRead(t *testing.T) {
	for text, want := range map[string]redirect{
		"MOVED 3999 10.0.0.1:6381":    {"10.0.0.1:6381", false},
		"ASK 3999 10.0.0.1:6381":      {"10.0.0.1:6381", true},
		"MOVED 3999 :6381":            {"h:6381", false},
		"MOVED 3999 ?:6381":           {"h:6381", false},
		"MOVED 3999 fe80::1:6381":     {"[fe80::1]:6381", false},
		"MOVED 3999 node-1.test:6381": {"node-1.test:6381", false},
	} {
		if got, ok := redirectOf(ReadRefusal(text), "h:1"); !ok || got != want {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"MOVED", "MOVED 1", "MOVED 1 host", "MOVED 1 h:99999", "MOVED 1 a b", "ERR MOVED 1 h:1", "MOVED 1 h\x1b:1",
		"CLUSTERDOWN x y",
	} {
		if got, ok := redirectOf(ReadRefusal(text), "h:1"); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	if _, ok := redirectOf(errors.New("MOVED 1 h:1"), "h:1"); ok {
		t.Error("not a reply of a server")
	}
}

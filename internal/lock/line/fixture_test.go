package line_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// What most tests of the line begin with, do, and look at in the end.

const jobKey = "redlockrun:{job}"

// anAcquire is in the acquire step alone: no other names the holder's host.
const anAcquire = `"host":"web-3"`

func open(t *testing.T, url string) lock.Store {
	t.Helper()
	s, err := line.Open(lock.Servers{URLs: []string{url}, Prefix: lock.DefaultPrefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if kept(t) != "" {
		return mindful{s}
	}
	return s
}

// served is a server, and a store on it.
func served(t *testing.T) (*redistest.Server, lock.Store) {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{})
	spoil(t, srv)
	return srv, open(t, srv.URL())
}

// holding is a server and a store on it, where somebody holds the lock "job".
func holding(t *testing.T) (*redistest.Server, lock.Store, lock.Lease) {
	t.Helper()
	srv, s := served(t)
	return srv, s, locktest.Acquire(t, s, locktest.RequestFor("job"))
}

// proxied is a server, a proxy before it, and a store behind both.
func proxied(t *testing.T) (*redistest.Server, *redistest.Proxy, lock.Store) {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{})
	spoil(t, srv)
	p := redistest.NewProxy(t, srv)
	return srv, p, open(t, p.URL())
}

// impatient gives a store that does not answer little time.
func impatient(name string) lock.Request {
	req := locktest.RequestFor(name)
	req.Timeout = time.Second
	return req
}

// within gives a store that does not answer so much time.
func within(timeout time.Duration) lock.Request {
	req := locktest.RequestFor("job")
	req.Timeout = timeout
	return req
}

// waits is a request that waits in line for a lock.
func waits(name string, limit time.Duration) lock.Request {
	req := locktest.RequestFor(name)
	req.Wait.Limit = limit
	return req
}

// ofRun is what every request of a run has in it.
func ofRun(req lock.Request) string { return ":gone:" + req.Holder.Run }

// A result is how an Acquire ended.
type result struct {
	lease lock.Lease
	err   error
}

// begin starts an Acquire, which ends with the test.
func begin(t *testing.T, s lock.Store, req lock.Request) (done <-chan result, stop context.CancelCauseFunc) {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	c := make(chan result, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		l, err := s.Acquire(ctx, req)
		c <- result{l, err}
	})
	t.Cleanup(func() { stop(nil); wg.Wait() })
	return c, stop
}

// acquiring is an Acquire whose request is on its way until arrive is called.
func acquiring(t *testing.T, p *redistest.Proxy, s lock.Store, req lock.Request) (
	done <-chan result, stop context.CancelCauseFunc, arrive func()) {
	t.Helper()
	arrive = p.Hold(anAcquire)
	done, stop = begin(t, s, req)
	await(t, p, anAcquire, 1)
	return done, stop, arrive
}

func got(t *testing.T, done <-chan result) result {
	t.Helper()
	select {
	case r := <-done:
		return r
	case <-time.After(locktest.Patience):
		t.Fatal("Acquire has not returned")
	}
	return result{}
}

func lease(t *testing.T, done <-chan result) lock.Lease {
	t.Helper()
	r := got(t, done)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.lease
}

func inLine(t *testing.T, srv *redistest.Server, name string) int64 {
	t.Helper()
	return locktest.Do(t, srv, "ZCARD", "redlockrun:{"+name+"}:queue").(int64)
}

func wantInLine(t *testing.T, srv *redistest.Server, want int64) {
	t.Helper()
	if n := inLine(t, srv, "job"); n != want {
		t.Errorf("%d in line, not %d", n, want)
	}
}

// park starts an Acquire and returns when it is the n-th in line, and connected.
func park(t *testing.T, srv *redistest.Server, s lock.Store, req lock.Request, n int64) (done <-chan result,
	stop context.CancelCauseFunc) {
	t.Helper()
	done, stop = begin(t, s, req)
	locktest.Until(t, fmt.Sprintf("%d in line", n), func() bool { return inLine(t, srv, req.Name) == n })
	return done, stop
}

// parkMany lets n wait in the line for "job" for ever, one after the other.
func parkMany(t *testing.T, srv *redistest.Server, s lock.Store, n int) (queue []<-chan result) {
	t.Helper()
	for i := range n {
		done, _ := park(t, srv, s, waits("job", lock.Forever), int64(i+1))
		queue = append(queue, done)
	}
	return queue
}

func parkTwo(t *testing.T, srv *redistest.Server, s lock.Store) (first, second <-chan result) {
	t.Helper()
	queue := parkMany(t, srv, s, 2)
	return queue[0], queue[1]
}

// waitsBehind is a waiter of its own proxy, parked as the n-th in line.
func waitsBehind(t *testing.T, srv *redistest.Server, n int64) (
	req lock.Request, p *redistest.Proxy, done <-chan result, stop func(error)) {
	t.Helper()
	p = redistest.NewProxy(t, srv)
	req = waits("job", lock.Forever)
	done, cancel := park(t, srv, open(t, p.URL()), req, n)
	return req, p, done, func(err error) { cancel(err) }
}

// serve gives the lock to those in line, one after the other, and returns the last one's
// lease. Nobody has it beside another.
func serve(t *testing.T, held lock.Lease, queue ...<-chan result) lock.Lease {
	t.Helper()
	for i, done := range queue {
		fence := held.Fence()
		release(t, held)
		held = lease(t, done)
		if held.Fence() <= fence {
			t.Errorf("fence %d after %d", held.Fence(), fence)
		}
		for _, later := range queue[i+1:] {
			select {
			case r := <-later:
				t.Fatalf("another has the lock beside waiter %d (%v)", i, r.err)
			default:
			}
		}
	}
	return held
}

func release(t *testing.T, l lock.Lease) {
	t.Helper()
	if err := l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}); err != nil {
		t.Fatal(err)
	}
}

// renewOnce is a renewal whose first try succeeds.
func renewOnce(t *testing.T, l lock.Lease) {
	t.Helper()
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err != nil {
		t.Error(err)
	}
}

// keepsRenewing renews until the server has answered: a connection that broke costs tries.
func keepsRenewing(t *testing.T, l lock.Lease) error {
	t.Helper()
	for deadline := time.Now().Add(locktest.Patience); time.Now().Before(deadline); {
		_, err := l.Renew(locktest.Limited(t, 5*time.Second))
		var unanswered *lock.UnavailableError
		if !errors.As(err, &unanswered) {
			return err
		}
	}
	t.Fatal("no renewal was answered")
	return nil
}

// await returns when n requests with this text have come to the proxy.
func await(t *testing.T, p *redistest.Proxy, text string, n int) {
	t.Helper()
	if !p.Await(text, n) {
		t.Fatalf("%d requests with %q, not %d", p.Count(text), text, n)
	}
}

// awaitClosed returns when no connection goes through the proxy any more, and all that came
// to it has arrived.
func awaitClosed(t *testing.T, p *redistest.Proxy) {
	t.Helper()
	if !p.AwaitClosed() {
		t.Fatal("there are connections left")
	}
}

// quiet waits until the server has read all that was sent to it: then
// nobody is connected but the asker.
func quiet(t *testing.T, srv *redistest.Server) {
	t.Helper()
	locktest.Until(t, "all connections closed", func() bool {
		return strings.Count(locktest.Do(t, srv, "CLIENT", "LIST").(string), "\n") == 1
	})
}

func free(t *testing.T, srv *redistest.Server) {
	t.Helper()
	if v := locktest.Do(t, srv, "GET", jobKey); v != nil {
		t.Errorf("the lock is still %v", v)
	}
}

// nothingLeft checks that the lock is free when all that was sent has been done.
func nothingLeft(t *testing.T, srv *redistest.Server) {
	t.Helper()
	quiet(t, srv)
	free(t, srv)
}

// onlyFence checks that nothing is left of a lock but its counter.
func onlyFence(t *testing.T, srv *redistest.Server) {
	t.Helper()
	onlyFenceAnd(t, srv, "")
}

// onlyFenceAndMarks is onlyFence where a request got no answer: the mark against
// it stays for a minute.
func onlyFenceAndMarks(t *testing.T, srv *redistest.Server) {
	t.Helper()
	onlyFenceAnd(t, srv, ":gone:")
}

func onlyFenceAnd(t *testing.T, srv *redistest.Server, but string) {
	t.Helper()
	var key string
	if !redistest.Until(locktest.Patience, func() bool { key = left(t, srv, but); return key == "" }) {
		t.Fatalf("%s is left", key)
	}
}

// left is a key that is left beside fences, and those that contain but.
func left(t *testing.T, srv *redistest.Server, but string) string {
	t.Helper()
	for _, k := range locktest.Do(t, srv, "KEYS", "*").([]any) {
		key := k.(string)
		stays := strings.HasSuffix(key, ":fence") || kept(t) != "" && ofLedger(key) || but != "" &&
			strings.Contains(key, but)
		if !stays {
			return key
		}
	}
	return ""
}

func listeners(t *testing.T, srv *redistest.Server, req lock.Request) string {
	t.Helper()
	return fmt.Sprint(locktest.Do(t, srv, "PUBSUB", "NUMSUB", "redlockrun:{job}:"+req.Holder.Run).([]any)[1])
}

func evals(t *testing.T, srv *redistest.Server) (n int) {
	t.Helper()
	for line := range strings.Lines(locktest.Do(t, srv, "INFO", "commandstats").(string)) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_eval:calls="); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}

package inspect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/inspect"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// What the tests write by hand and read.

const (
	runA = "01AAAAAAAAAAAAAAAAAAAAAAAA"
	runB = "01BBBBBBBBBBBBBBBBBBBBBBBB"
	runC = "01CCCCCCCCCCCCCCCCCCCCCCCC"
)

// inspecting reads a server as a user that its URL names.
func inspecting(t *testing.T, url string) *inspect.Server {
	t.Helper()
	src, err := link.NewSource(lock.Servers{URLs: []string{url}, Prefix: lock.DefaultPrefix}, url)
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(src, lock.DefaultPrefix, lock.Inspection{})
}

// served is a server and what reads it.
func served(t *testing.T) (*redistest.Server, *inspect.Server) {
	t.Helper()
	srv := redistest.Start(t, redistest.Options{})
	return srv, inspecting(t, srv.URL())
}

// job reads a job.
func job(t *testing.T, s lock.Inspector, name string) lock.Job {
	t.Helper()
	j, err := s.Job(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func keys(name string) wire.Keys { return wire.KeysOf(lock.DefaultPrefix, name, "") }

// record is the value of a lock that a run took so long ago, with a ttl of a minute.
func record(run string, ago time.Duration) string {
	at := time.Now().Add(-ago).UnixMilli()
	return fmt.Sprintf(`{"run":"%s","v":1,"host":"web-3","pid":4121,"user":"alice","cmd":"php",`+
		`"start":%d,"ttl":60000,"every":20000,`+
		`"boot":"0123456789abcdef","fence":%d,"at":%d}`, run, at, at, at)
}

// waiting is the record of a run that asked first so long ago.
func waiting(run string, ago time.Duration) string {
	record := wire.RecordOf(lock.Holder{Run: run, Host: "web-3", PID: 4121, User: "alice", Command: "php",
		Start: time.Now()})
	record.Asked = time.Now().Add(-ago).UnixMilli()
	return record.String()
}

// entry is one of a run that ended so long ago, a minute after it began.
func entry(run string, ago time.Duration, how lock.EndKind, status int) lock.Entry {
	ended := time.Now().Add(-ago).Truncate(time.Millisecond)
	return lock.Entry{
		Run: run, Host: "web-3", User: "alice", PID: 4121, Command: "php", Slot: "5m 2026-03-01T12:05Z", Attempts: 1,
		Fence: 7,
		Asked: ended.Add(-2 * time.Minute), At: ended.Add(-time.Minute), Ended: ended, End: how, Status: status,
	}
}

// opened is the entry of a run that is open.
func opened(run string) lock.Entry {
	e := entry(run, 0, "", -1)
	e.Ended = time.Time{}
	return e
}

func do(t *testing.T, srv *redistest.Server, words ...any) { t.Helper(); locktest.Do(t, srv, words...) }

// fill writes all keys of a job: a run has it, two wait, two slots, and a ledger.
func fill(t *testing.T, srv *redistest.Server, name string) {
	t.Helper()
	k, now := keys(name), time.Now().UnixMilli()
	do(t, srv, "SET", k.Lock, record(runA, 5*time.Second), "PX", 55000)
	do(t, srv, "SET", k.Fence, "7")
	do(t, srv, "ZADD", k.Queue, 1, runB, 2, runC)
	do(t, srv, "HSET", k.Waiters,
		runB, fmt.Sprintf("%d 1 5m%%202026-03-01T12:05Z 2 %s", now, waiting(runB, time.Second)),
		runC, fmt.Sprintf("%d 0 %s", now, waiting(runC, 0)))
	do(t, srv, "HSET", k.Slots, "old", fmt.Sprintf("closed %d %s/web-1/ok/0/%d", now-1000, runC, now-1000),
		"new", fmt.Sprintf("open %d %s/web-3 %s/web-2/failed/3/%d", now, runA, runB, now))
	do(t, srv, "HSET", k.Job, "open", wire.EntryText(opened(runA)), "last",
		wire.EntryText(entry(runC, time.Hour, lock.EndFailed, 3)),
		"good", wire.EntryText(entry(runB, 2*time.Hour, lock.EndOk, 0)), "mean", "20 125000", "count:ok", 41,
		"count:failed", 2, "listed", 20000)
	do(t, srv, "RPUSH", k.Runs, wire.EntryText(entry(runC, time.Hour, lock.EndFailed, 3)),
		wire.EntryText(entry(runB, 2*time.Hour, lock.EndOk, 0)))
	do(t, srv, "RPUSH", k.Bad, wire.EntryText(entry(runC, time.Hour, lock.EndFailed, 3)),
		wire.EntryText(entry(lock.NewRunID(), 9*time.Hour, lock.EndVanished, -1)))
	do(t, srv, "ZADD", k.Jobs, now, name)
}

// unread fails the test unless something that could not be read is named like this.
func unread(t *testing.T, j lock.Job, what ...string) {
	t.Helper()
	for _, want := range what {
		if !strings.Contains("\n"+strings.Join(j.Unread, "\n"), "\n"+want) {
			t.Errorf("no %q in %q", want, j.Unread)
		}
	}
	if len(j.Unread) != len(what) {
		t.Errorf("unread: %q, not %q", j.Unread, what)
	}
}

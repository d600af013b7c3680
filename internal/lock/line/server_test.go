package line_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func TestAServerOutOfMemoryStillRenewsAndReleases(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	held, kept := locktest.Acquire(t, s, locktest.RequestFor("held")),
		locktest.Acquire(t, s, locktest.RequestFor("kept"))
	locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
	_, err := s.Acquire(t.Context(), impatient("job"))
	if e := locktest.MustBeUnavailable(t, err); e.Denied || !strings.HasPrefix(e.Err.Error(), "OOM ") {
		t.Error(e)
	}
	if v := locktest.Do(t, srv, "EXISTS", jobKey, jobKey+":fence"); v != int64(0) {
		t.Error("the acquire that was refused has written something")
	}
	renewOnce(t, held)
	release(t, held)
	if err := kept.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: time.Hour}); err != nil {
		t.Error(err)
	}
	if _, err := s.Acquire(t.Context(), locktest.RequestFor("kept")); !errors.As(err, new(*lock.HeldError)) {
		t.Errorf("what was kept: %v", err)
	}
}

// A server that reads its data after a restart answers, after each 1000 keys, but
// knows of no lock yet.
func TestALoadingServerIsAnOutage(t *testing.T) {
	t.Parallel()
	ability.Slow(t)
	// us, and what a sleep takes
	srv := redistest.Start(t, redistest.Options{Persist: true, Args: []string{"--key-load-delay", "20"}})
	s := open(t, srv.URL())
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	locktest.Do(t, srv, "EVAL", "for i = 1, 40000 do redis.call('SET', 'filler' .. i, i) end", 0)
	loaded := make(chan error, 1)
	go func() { loaded <- srv.Restart(true) }()
	locktest.Until(t, "LOADING", func() bool {
		_, err := srv.Do("PING")
		return err != nil && strings.HasPrefix(err.Error(), "LOADING ")
	})
	locktest.Until(t, "an answer while it loads", func() bool {
		_, err := s.Acquire(t.Context(), impatient("other"))
		e := locktest.MustBeUnavailable(t, err)
		if e.Denied {
			t.Error(e)
		}
		return strings.HasPrefix(e.Err.Error(), "LOADING ")
	})
	_, err := l.Renew(locktest.Limited(t, time.Second))
	locktest.MustBeUnavailable(t, err)
	locktest.Must(t, <-loaded)
	locktest.Renew(t, l)
}

func TestEvictionIsALoss(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{
		"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random",
		"volatile-ttl",
	} {
		srv := redistest.Start(t, redistest.Options{Args: []string{"--maxmemory-policy", policy}})
		l := locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("job"))
		locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "1")
		srv.Do("SET", "filler", "x") // refused, once all that may be evicted has been
		locktest.Do(t, srv, "CONFIG", "SET", "maxmemory", "0")
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); !errors.Is(err, lock.ErrLost) ||
			errors.Is(err, lock.ErrTaken) {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// A replica may know of an old holder, or of none: it is not believed.
func TestAReplicaIsNotBelieved(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	l, gone := locktest.Acquire(t, s, locktest.RequestFor("job")), locktest.Acquire(t, s, locktest.RequestFor("gone"))
	locktest.Do(t, srv, "DEL", "redlockrun:{gone}")
	locktest.Do(t, srv, "REPLICAOF", "127.0.0.1", "1")
	for _, l := range []lock.Lease{l, gone} {
		_, err := l.Renew(locktest.Limited(t, locktest.Patience))
		locktest.MustBeUnavailable(t, err)
	}
	for _, name := range []string{"job", "free"} {
		_, err := s.Acquire(t.Context(), impatient(name))
		if e := locktest.MustBeUnavailable(t, err); !strings.HasPrefix(e.Err.Error(), "READONLY ") {
			t.Error(e)
		}
	}
	locktest.MustBeUnavailable(t, gone.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{}))
	locktest.Do(t, srv, "CONFIG", "SET", "replica-serve-stale-data", "no")
	_, err := s.Acquire(t.Context(), impatient("job"))
	if e := locktest.MustBeUnavailable(t, err); !strings.HasPrefix(e.Err.Error(), "MASTERDOWN ") {
		t.Error(e)
	}
	locktest.Do(t, srv, "REPLICAOF", "NO", "ONE")
	locktest.Renew(t, l)
	release(t, l)
}

func TestAServerBusyWithAScriptIsUnavailable(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{Args: []string{"--lua-time-limit", "10"}})
	s := open(t, srv.URL())
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	ended := make(chan error, 1)
	go func() {
		_, err := srv.Do("EVAL", "while true do end", 0)
		ended <- err
	}()
	locktest.Until(t, "BUSY", func() bool {
		_, err := srv.Do("PING")
		return err != nil
	})
	_, err := l.Renew(locktest.Limited(t, locktest.Patience))
	locktest.MustBeUnavailable(t, err)
	_, err = s.Acquire(t.Context(), impatient("other"))
	if e := locktest.MustBeUnavailable(t, err); !strings.HasPrefix(e.Err.Error(), "BUSY ") {
		t.Error(e)
	}
	req := locktest.RequestFor("other")
	req.Timeout = locktest.Patience
	done, _ := begin(t, s, req)
	locktest.Do(t, srv, "SCRIPT", "KILL")
	release(t, lease(t, done))
	locktest.Renew(t, l)
	<-ended
}

func TestAKeyWithoutTTLIsBusyForEver(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	for _, value := range []string{
		"deploy by bob", "", "\x1b[2J\nred\u202e", `{"run":"short"}`, `{"run":"` + lock.NewRunID() + `",broken`,
		strings.Repeat("x", 5000),
	} {
		locktest.Do(t, srv, "SET", jobKey, value)
		_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
		var held *lock.HeldError
		if !errors.As(err, &held) {
			t.Fatalf("%q: %v", value, err)
		}
		if held.TTL >= 0 || held.Holder.Run != "" || held.Holder.Foreign != value[:min(len(value), wire.RecordMax)] {
			t.Errorf("%+v", held)
		}
		if strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
			t.Errorf("%q steers a terminal", err)
		}
		if got := locktest.Do(t, srv, "GET", jobKey); got != value {
			t.Errorf("%q has become %q", value, got)
		}
	}
	locktest.Do(t, srv, "SET", jobKey, "deploy by bob", "PX", 3_600_000)
	_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
	var held *lock.HeldError
	if !errors.As(err, &held) || held.TTL < time.Minute {
		t.Error(err)
	}
}

func TestAKeyOfAnotherTypeIsNotALock(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	for _, c := range []struct {
		key, what string
		set       []any
	}{
		{jobKey, "a list", []any{"RPUSH", jobKey, "x"}},
		{jobKey, "a hash", []any{"HSET", jobKey, "x", "y"}},
		{jobKey + ":fence", "a set", []any{"SADD", jobKey + ":fence", "x"}},
		{jobKey + ":fence", "a fence that is not a number below 2^53",
			[]any{"SET", jobKey + ":fence", "9007199254740991"}},
		{jobKey + ":fence", "a fence that is not a number below 2^53",
			[]any{"SET", jobKey + ":fence", strings.Repeat("9", 40)}},
		{jobKey + ":fence", "a fence that is not a number below 2^53", []any{"SET", jobKey + ":fence", "-1"}},
		{jobKey + ":fence", "a fence that is not a number below 2^53", []any{"SET", jobKey + ":fence", "1e3"}},
		{jobKey + ":fence", "a fence that is not a number below 2^53", []any{"SET", jobKey + ":fence", "1.5"}},
		{jobKey + ":fence", "a fence that is not a number below 2^53", []any{"SET", jobKey + ":fence", ""}},
		{jobKey + ":fence", "a fence that is not a number below 2^53", []any{"SET", jobKey + ":fence", "word"}},
		{jobKey + ":paused", "a string", []any{"SET", jobKey + ":paused", "nonsense"}},
		{jobKey + ":paused", "a string",
			[]any{"SET", jobKey + ":paused", `{"pause":"01AAAAAAAAAAAAAAAAAAAAAAAA"`, "PX", 3_600_000}},
		{jobKey + ":paused", "a string", []any{"SET", jobKey + ":paused", `{"pause":"short","v":1}`}},
	} {
		locktest.Do(t, srv, c.set...)
		before := locktest.Do(t, srv, "DUMP", c.key)
		_, err := s.Acquire(t.Context(), locktest.RequestFor("job"))
		var not *lock.NotLockError
		if !errors.As(err, &not) || not.Key != c.key || not.What != c.what {
			t.Errorf("%v: %v", c.set, err)
		}
		if keys := locktest.Do(t, srv, "DBSIZE"); locktest.Do(t, srv, "DUMP", c.key) != before || keys != int64(1) {
			t.Errorf("%v: something was written", c.set)
		}
		locktest.Do(t, srv, "FLUSHALL")
	}
}

func TestAStolenOrDeletedLockIsLostAndLeftAlone(t *testing.T) {
	t.Parallel()
	srv, s := served(t)
	for _, c := range []struct {
		fault []any
		want  error
	}{
		{[]any{"DEL", jobKey}, lock.ErrLost},
		{[]any{"FLUSHALL"}, lock.ErrLost},
		{[]any{"SET", jobKey, "mine now"}, lock.ErrTaken},
		{[]any{"SET", jobKey, wire.RecordOf(lock.Holder{Run: lock.NewRunID()}).String()}, lock.ErrTaken},
		{[]any{"EVAL", "redis.call('DEL', KEYS[1]) redis.call('RPUSH', KEYS[1], 'x')", 1, jobKey}, lock.ErrTaken},
		{[]any{"RENAME", jobKey, "elsewhere"}, lock.ErrLost},
	} {
		for _, renewal := range []bool{true, false} {
			l := locktest.Acquire(t, s, locktest.RequestFor("job"))
			locktest.Do(t, srv, c.fault...)
			dump, left := locktest.Do(t, srv, "DUMP", jobKey), locktest.Do(t, srv, "PTTL", jobKey)
			var err error
			if renewal {
				_, err = l.Renew(locktest.Limited(t, locktest.Patience))
			} else {
				err = l.Release(locktest.Limited(t, locktest.Patience), lock.ReleaseRequest{Keep: time.Minute})
			}
			if !errors.Is(err, lock.ErrLost) || errors.Is(err, lock.ErrTaken) != (c.want == lock.ErrTaken) {
				t.Errorf("%v: %v", c.fault, err)
			}
			if locktest.Do(t, srv, "DUMP", jobKey) != dump || locktest.Do(t, srv, "PTTL", jobKey) != left {
				t.Errorf("%v: another's key was changed", c.fault)
			}
			locktest.Do(t, srv, "FLUSHALL")
		}
	}
}

func TestARotatedPasswordIsReadAgain(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{Users: []string{"alice on >old " + lock.MinimalACL}})
	file := filepath.Join(t.TempDir(), "url")
	write := func(password string) {
		t.Helper()
		locktest.Must(t, os.WriteFile(file, fmt.Appendf(nil, "redis://alice:%s@%s\n", password, srv.Addr()), 0o600))
	}
	write("old")
	s := open(t, "file:"+file)
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	locktest.Do(t, srv, "ACL", "SETUSER", "alice", "resetpass", ">new")
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err != nil {
		t.Errorf("on the open connection: %v", err)
	}
	locktest.Do(t, srv, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	_, err := l.Renew(locktest.Limited(t, locktest.Patience))
	if e := locktest.MustBeUnavailable(t, err); !e.Denied || e.Address != srv.Addr() {
		t.Error(e)
	}
	write("new")
	renewOnce(t, l)
	os.Remove(file)
	locktest.Do(t, srv, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	if err := keepsRenewing(t, l); err != nil {
		t.Errorf("without the file: %v", err)
	}
	release(t, l)
}

// A refusal is no outage: nobody waits for it to go away.
func TestWrongPasswordIsDeniedAtOnce(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{Password: "secret", Users: []string{"alice on >secret ~other:* +@all"}})
	for _, user := range []string{"", ":wrong@", "nobody:secret@", "alice:secret@"} {
		req := within(time.Hour)
		_, err := open(t, "redis://"+user+srv.Addr()).Acquire(t.Context(), req)
		if e := locktest.MustBeUnavailable(t, err); !e.Denied {
			t.Errorf("%q: %v", user, e)
		}
	}
}

func TestAServerWithTooManyClientsIsUnavailable(t *testing.T) {
	t.Parallel()
	srv, s, l := holding(t)
	locktest.Do(t, srv, "CONFIG", "SET", "maxclients", "1")
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err != nil {
		t.Errorf("on the open connection: %v", err)
	}
	_, err := s.Acquire(t.Context(), impatient("other"))
	locktest.MustBeUnavailable(t, err)
	release(t, l)
}

// A server that is full says so and hangs up, mostly before it is asked.
func TestAFullServerIsReportedAsFull(t *testing.T) {
	t.Parallel()
	srv, s, l := holding(t)
	locktest.Do(t, srv, "CONFIG", "SET", "maxclients", "1")
	_, err := s.Acquire(t.Context(), impatient("other"))
	var refusal *lock.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "MAXCLIENTS" {
		t.Errorf("%v", err)
	}
	release(t, l)
}

func TestPrefixAndDatabaseTellLocksApart(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t, redistest.Options{})
	locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("a{b}%"))
	if v := locktest.Do(t, srv, "GET", "redlockrun:{a%7Bb%7D%25}"); v == nil {
		t.Errorf("keys %v", locktest.Do(t, srv, "KEYS", "*"))
	}
	locktest.Acquire(t, open(t, srv.URL()), locktest.RequestFor("a%7Bb%7D%25"))
	locktest.Acquire(t, open(t, srv.URL()+"/3"), locktest.RequestFor("a{b}%"))
	other, err := line.Open(lock.Servers{URLs: []string{"unix://" + srv.Socket() + "?db=0"}, Prefix: "x:"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	locktest.Acquire(t, other, locktest.RequestFor("a{b}%"))
	if _, err := other.Acquire(t.Context(), locktest.RequestFor("a{b}%")); !errors.As(err, new(*lock.HeldError)) {
		t.Error(err)
	}
	if _, err := line.Open(lock.Servers{URLs: []string{srv.URL()}, Prefix: "{x}"}); !errors.As(err,
		new(*lock.ConfigError)) {
		t.Error(err)
	}
}

func TestClosedStoreEndsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	srv, p, s := proxied(t)
	done, _, arrive := acquiring(t, p, s, within(2*time.Second))
	s.Close()
	locktest.MustBeUnavailable(t, got(t, done).err)
	arrive()
	p.AwaitClosed()
	nothingLeft(t, srv)
}

package doctor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/doctor"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/redistest"
)

// patience is how long one question may take on a machine that is busy.
const patience = 30 * time.Second

// at is where locks are kept by this URL.
func at(url string) lock.Servers {
	return lock.Servers{URLs: []string{url}, Prefix: lock.DefaultPrefix}
}

// times returns the times of a lease that bears slow answers.
func times() lock.Times {
	t := lock.TimesOf(7 * 24 * time.Hour)
	t.Try = 2 * patience
	return t
}

// examine looks at servers, and rehearses.
func examine(t *testing.T, cfg lock.Servers) []doctor.Finding {
	t.Helper()
	e, err := doctor.Open(t.Context(), cfg, times(), patience)
	if err != nil {
		t.Fatal(err)
	}
	if e.Store, err = line.Open(cfg); err != nil {
		t.Fatal(err)
	}
	// What this machine's kernel says of its clock is no matter of the servers.
	return slices.DeleteFunc(e.Examine(t.Context()), func(f doctor.Finding) bool { return f.Check == "host-clock" })
}

// wants fails unless there is a finding of that check and result whose message has text in it.
func wants(t *testing.T, found []doctor.Finding, check string, r doctor.Result, text string) doctor.Finding {
	t.Helper()
	for _, f := range found {
		if f.Check == check && f.Result == r && strings.Contains(f.Message, text) {
			if (r == doctor.Warn || r == doctor.Fail) && f.Remedy == "" {
				t.Errorf("%s has no remedy: %s", check, f.Message)
			}
			return f
		}
	}
	t.Errorf("no %s of %s says %q: %+v", r, check, text, found)
	return doctor.Finding{}
}

// isFine fails if anything warns or fails but for these checks.
func isFine(t *testing.T, found []doctor.Finding, but ...string) {
	t.Helper()
	for _, f := range found {
		if (f.Result == doctor.Warn || f.Result == doctor.Fail) && !slices.Contains(but, f.Check) {
			t.Errorf("%s %s: %s", f.Result, f.Check, f.Message)
		}
	}
}

func do(t *testing.T, s *redistest.Server, words ...any) any {
	t.Helper()
	reply, err := s.Do(words...)
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return reply
}

func TestAHealthyServerIsOkThroughoutAndNothingIsLeftThere(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	found := examine(t, at(s.URL()))
	isFine(t, found)
	for _, f := range found {
		if f.Result != doctor.Ok {
			t.Errorf("%+v", f)
		}
	}
	wants(t, found, "rehearsal", doctor.Ok, "took, renewed, waited for and released a test lock")
	if keys := do(t, s, "KEYS", "*").([]any); len(keys) > 0 {
		t.Errorf("left behind: %v", keys)
	}
	if channels := do(t, s, "PUBSUB", "CHANNELS").([]any); len(channels) > 0 {
		t.Errorf("left behind: %v", channels)
	}
}

func TestWhatAServerIsSetToIsJudged(t *testing.T) {
	t.Parallel()
	full := func(policy string) []string { return []string{"--maxmemory", "100mb", "--maxmemory-policy", policy} }
	kept := func(appendfsync string) redistest.Options {
		return redistest.Options{Persist: true, Args: []string{"--appendfsync", appendfsync}}
	}
	for _, c := range []struct {
		name, check string
		opts        redistest.Options
		durable     bool
		want        doctor.Result
		says        string
	}{
		{"allkeys-lru", "eviction", redistest.Options{Args: full("allkeys-lru")}, false, doctor.Fail,
			"evicts locks that are held"},
		{"volatile-ttl", "eviction", redistest.Options{Args: full("volatile-ttl")}, false, doctor.Warn,
			"expire soonest"},
		{"volatile-lru", "eviction", redistest.Options{Args: full("volatile-lru")}, false, doctor.Warn, "volatile-lru"},
		{"never full", "eviction", redistest.Options{Args: []string{"--maxmemory-policy", "allkeys-lru"}}, false,
			doctor.Ok, "no maxmemory"},
		{"no persistence", "persistence", redistest.Options{}, false, doctor.Warn,
			"appendonly no: a restart loses held locks"},
		{"snapshots", "persistence", redistest.Options{Args: []string{"--save", "900", "1"}}, false, doctor.Warn,
			"since the last snapshot"},
		{"everysec", "persistence", kept("everysec"), false, doctor.Ok, "one second"},
		{"not durable", "persistence", kept("everysec"), true, doctor.Warn, "--durable"},
		{"no fsync", "persistence", kept("no"), false, doctor.Warn, "appendfsync no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := at(redistest.Start(t, c.opts).URL())
			cfg.Durable = c.durable
			found := examine(t, cfg)
			wants(t, found, c.check, c.want, c.says)
			isFine(t, found, c.check, "persistence")
		})
	}
}

func TestAClockThatIsWrongIsSeen(t *testing.T) {
	t.Parallel()
	clock := redistest.NewClock(t)
	s := redistest.Start(t, redistest.Options{Persist: true, Clock: clock})
	isFine(t, examine(t, at(s.URL())))
	for ahead, says := range map[time.Duration]string{
		5 * time.Minute: "ahead of this host's", -5 * time.Minute: "behind this host's",
	} {
		if err := clock.Push(ahead); err != nil {
			t.Fatal(err)
		}
		found := examine(t, at(s.URL()))
		wants(t, found, "clock", doctor.Warn, says)
		isFine(t, found, "clock")
	}
}

func TestAReplicaKeepsNoLocks(t *testing.T) {
	t.Parallel()
	master, replica := redistest.Start(t, redistest.Options{}), redistest.Start(t, redistest.Options{})
	host, port, _ := strings.Cut(master.Addr(), ":")
	do(t, replica, "REPLICAOF", host, port)
	f := wants(t, examine(t, at(replica.URL())), "role", doctor.Fail, "it is a replica")
	if !strings.Contains(f.Remedy, "redis+sentinel://") {
		t.Errorf("the remedy is %q", f.Remedy)
	}
}

func TestReplicasThatAreWantedAnswer(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Persist: true})
	cfg := at(s.URL())
	cfg.Replicas, cfg.ReplicasTimeout = 1, 10*time.Millisecond
	wants(t, examine(t, cfg), "replicas", doctor.Fail, "0 of 1 replicas")
}

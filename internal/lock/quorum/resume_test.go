package quorum

import (
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

const (
	jobPaused  = jobKey + ":paused"
	jobResumed = jobKey + ":resumed"
)

// An office is a quorum behind proxies, and an operator.
type office struct {
	t       *testing.T
	all     servers
	proxies []*redistest.Proxy
	store   lock.Store
	desk    lock.Operator
	look    lock.Inspector
}

func newOffice(t *testing.T, n int) *office {
	t.Helper()
	f := &office{t: t}
	f.all, f.proxies, f.store = startBehindProxies(t, n)
	var urls []string
	for _, p := range f.proxies {
		urls = append(urls, p.URL())
	}
	f.desk = operating(t, urls)
	var err error
	f.look, err = OpenInspector(lock.Servers{URLs: urls, Prefix: lock.DefaultPrefix}, lock.Inspection{})
	locktest.Must(t, err)
	return f
}

// away cuts a server off, or brings it back.
func (f *office) away(i int, yes bool) {
	f.proxies[i].Refuse(yes)
	f.proxies[i].Reset()
}

// wants reports whether a server has a pause.
func (f *office) wants(i int) bool {
	return locktest.Do(f.t, f.all[i], "EXISTS", jobPaused) == int64(1)
}

// halfResumed is an office where the last server has not heard that a pause has ended.
func halfResumed(t *testing.T, n int) *office {
	t.Helper()
	f := newOffice(t, n)
	c := desk(lock.ActPause)
	c.For = lock.Forever
	mustDo(t, f.desk, c, true)
	f.away(n-1, true)
	if out := mustDo(t, f.desk, desk(lock.ActResume), true); len(out.Absent) != 1 {
		t.Fatalf("%+v", out)
	}
	return f
}

// mustNote checks what a reader is told of the pause.
func (f *office) mustNote(text string) {
	f.t.Helper()
	job, err := f.look.Job(f.t.Context(), "job")
	locktest.Must(f.t, err)
	said := strings.Join(job.Unread, "; ")
	if text == "" && strings.Contains(said, "resume") || !strings.Contains(said, text) {
		f.t.Errorf("told %q, not %q", said, text)
	}
}

// Whoever takes the lock at a majority ends the pause of a server that was away when it was resumed.
func TestARunEndsThePauseThatOneMasterHasKept(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		f := halfResumed(t, n)
		last := f.proxies[n-1].Addr()
		f.mustNote("repeat it when " + last)
		f.away(n-1, false)
		f.mustNote(last + " did not get it; the next run delivers it")
		if !f.wants(n - 1) {
			t.Fatal("nothing is left to be ended")
		}
		l := acquireWhole(t, f.store, locktest.RequestFor("job"))
		if f.wants(n - 1) {
			t.Error("the pause is still wanted")
		}
		f.mustNote("")
		give(t, l)
	}
}

// Runs go on with the server that was away then, and without one that was not.
func TestAPauseThatOneMasterHasKeptHindersNobody(t *testing.T) {
	t.Parallel()
	f := halfResumed(t, 3)
	f.away(2, false)
	f.away(1, true)
	give(t, locktest.Acquire(t, f.store, locktest.RequestFor("job")))
	if f.wants(2) {
		t.Error("the pause is still wanted")
	}
}

func TestAResumeThatIsRepeatedEndsThePauseEverywhere(t *testing.T) {
	t.Parallel()
	f := halfResumed(t, 3)
	f.away(2, false)
	made(t, f.desk, desk(lock.ActResume))
	for i := range f.all {
		if f.wants(i) {
			t.Errorf("server %d wants a pause", i)
		}
	}
	f.mustNote("")
}

// A pause that has ended is none on which a new one may count, since the next run ends it.
func TestAPauseDoesNotCountOnOneThatHasEnded(t *testing.T) {
	t.Parallel()
	f := halfResumed(t, 3)
	f.away(2, false)
	f.away(1, true)
	mustDo(t, f.desk, desk(lock.ActPause), true)
	f.away(1, false)
	mustBePaused(t, f.store)
	f.away(0, true)
	mustBeBusyWithout(t, f)
	f.away(0, false)
	mustDo(t, f.desk, desk(lock.ActResume), true)
	give(t, locktest.Acquire(t, f.store, locktest.RequestFor("job")))
}

// mustBeBusyWithout checks that no run begins with the servers that are there.
func mustBeBusyWithout(t *testing.T, f *office) {
	t.Helper()
	req := locktest.RequestFor("job")
	if l, err := f.store.Acquire(t.Context(), req); err == nil {
		l.Release(t.Context(), lock.ReleaseRequest{})
		t.Error("a run began under a pause")
	}
}

// A pause whose end a majority has not noted is left alone, as is another than the one that has ended.
func TestAPauseThatHasNotEndedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(id string) string{
		"noted by a minority": func(id string) string { return id + "@c " },
		"another":             func(string) string { return lock.NewRunID() + " " },
		"nonsense":            func(id string) string { return id[1:] + " x " + id + "Z" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, s := startDurable(t, 3)
			c := desk(lock.ActPause)
			made(t, operating(t, all.urls()), c)
			for _, srv := range all[:2] {
				locktest.Do(t, srv, "DEL", jobKey, jobPaused)
				locktest.Do(t, srv, "SET", jobResumed, ends(c.By.Run))
			}
			give(t, acquireWhole(t, s, locktest.RequestFor("job")))
			if locktest.Do(t, all[2], "EXISTS", jobPaused) != int64(1) {
				t.Error("it has been ended")
			}
		})
	}
}

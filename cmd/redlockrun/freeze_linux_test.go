package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"redlockrun/internal/guard"
	"redlockrun/internal/proof/redistest"

	"golang.org/x/sys/unix"
)

// freezesVar says how often the start of a command is frozen, if not freezes times.
const (
	freezesVar = "REDLOCKRUN_TEST_FREEZES"
	freezes    = 32
)

// A freezing says what stands still from an instant of a start on.
type freezing int

const (
	redlockrunStands freezing = iota // SIGSTOP for it alone
	runStands                        // the command as well, which it has perhaps forked
	hostStands                       // the guard as well
)

// What stands still between the grant and the execve(2), at any instruction and however
// long, starts no command when another has the lock.
func TestNoFreezeStartsACommandWithoutALease(t *testing.T) {
	t.Parallel()
	n := freezes
	if text := os.Getenv(freezesVar); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := redistest.Start(t, redistest.Options{})
	var reached tally
	t.Run("freezes", func(t *testing.T) {
		for i := range n {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				f := freeze{t: t, url: s.URL(), key: fmt.Sprint("job", i), dir: t.TempDir()}
				f.what, f.from = freezing(i%3), from[i/3%2]
				reached.add(f.try())
			})
		}
	})
	t.Logf("%d freezes: %v", n, &reached)
	if reached.of[froze] < n/2 {
		t.Errorf("%d freezes of %d tries", reached.of[froze], n)
	}
}

// What has come of a try.
const (
	froze   = "froze"
	missed  = "the command ran before"
	overlap = "OVERLAP"
)

type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[string]int)
	}
	c.of[what]++
}

func (c *tally) String() string { return fmt.Sprint(c.of) }

// A freeze is one try.
type freeze struct {
	t             testing.TB
	url, key, dir string
	what          freezing
	from          guard.Kind // it freezes after this order to the guard
}

// from lists the beginnings of tries: the grant, when the guard gets the deadline, and the last
// moments before the fork, when it learns that a command may come.
var from = [...]guard.Kind{guard.Deadline, guard.Starting}

// lastStops is about how many system calls there are from then to the end of the command's
// execve(2), each counted twice: as it begins and as it ends.
var lastStops = map[guard.Kind]int{guard.Deadline: 120, guard.Starting: 60}

func (f freeze) try() string {
	ran, before := filepath.Join(f.dir, "ran"), filepath.Join(f.dir, "before")
	begun, end := filepath.Join(f.dir, "begun"), filepath.Join(f.dir, "end")
	r := trace(f.t, f.url, "-k", f.key, "--ttl", "0.5s", "-c", ": >"+ran)
	where, ok := f.reach(r, rand.IntN(lastStops[f.from]), rand.IntN(400))
	if !ok {
		return missed
	}
	second := launch(f.t, f.url, "-k", f.key, "--ttl", "5s", "--wait", "1m", "-c",
		"[ ! -e "+ran+" ] || : >"+before+"; : >"+begun+"; while [ ! -e "+end+" ]; do sleep 0.05; done")
	until(f.t, "the second command", func() bool {
		r.resolveStops()
		return exists(begun)
	})
	if r.guard != 0 {
		unix.Kill(r.guard, syscall.SIGCONT)
	}
	r.free()
	late := exists(ran) && !exists(before)
	touch(f.t, end)
	second.ends(0)
	if late {
		f.t.Errorf("%s, %d stands: the command ran beside another that had the lock; status %x", where, f.what,
			r.status)
		return overlap
	}
	if r.status.ExitStatus() != 76 && r.status.ExitStatus() != 0 {
		f.t.Errorf("%s, %v stands: status %x", where, f.what, r.status)
	}
	return froze
}

// reach freezes redlockrun so many stops and instructions behind the beginning; ok is false
// if the command has been executed before.
func (f freeze) reach(r *tracer, stops, instructions int) (where string, ok bool) {
	begun, count := false, 0
	for !r.over && !r.ran {
		s, is := r.next(true)
		if !is {
			continue
		}
		if begun {
			count++
		}
		begun = begun || r.tells(f.from, s)
		if count <= stops {
			r.goOn(s.id, 0)
			continue
		}
		own := r.thread[s.id]
		r.frozen = func(id int) bool { return id == s.id || f.what != redlockrunStands || r.thread[id] == own }
		if f.what == hostStands {
			unix.Kill(r.guard, syscall.SIGSTOP)
		}
		where = fmt.Sprintf("stop %d (system call %d, op %d, of redlockrun: %v) and %d instructions",
			stops, s.info.number, s.info.op, own, instructions)
		r.walk(s.id, instructions)
		return where, !r.ran
	}
	return "", false
}

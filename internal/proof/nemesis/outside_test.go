//go:build linux

package nemesis

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/redistest"

	"github.com/anishathalye/porcupine"
)

// A scene is what a store can forget: one run has the lock, and another wants it.
type scene struct {
	place  func(t *testing.T) *place
	before func() error // the first run has the lock
	forget func() error // now it has it alone as far as it knows itself
	inside bool         // of what is promised: the second run must not start
}

// sceneKey is the lock of all scenes.
const sceneKey = "job-a"

// ahead is further than any lease of a scene reaches.
const ahead = 2 * time.Hour

// scenes are outside of what is promised, but for those that say otherwise. In each two
// run at once: what finds nothing elsewhere finds something here.
var scenes = map[string]func() *scene{
	"OneServerFlushed": func() *scene {
		s := new(scene)
		s.place = func(t *testing.T) *place {
			p := newPlace(t, "OneServer")
			s.forget = func() error { return flush(p.servers...) }
			return p
		}
		return s
	},
	"OneServerClockSetForward": func() *scene {
		s := new(scene)
		s.place = func(t *testing.T) *place {
			n, clock := redistest.NewNetwork(t), redistest.NewClock(t)
			server := redistest.Start(t, redistest.Options{On: n.Right, Clock: clock})
			s.forget = func() error { return clock.Push(ahead) }
			return &place{net: n, urls: []string{server.URL()}}
		}
		return s
	},
	"SentinelFailover": func() *scene {
		s := new(scene)
		s.place = func(t *testing.T) *place {
			n := redistest.NewNetwork(t)
			group := redistest.StartSentinel(t,
				redistest.SentinelOptions{Data: data(n), Replicas: 1, Places: onRight(n, 5)})
			s.before = func() error { return fallBehind(group.Data[0], group.Data[1]) }
			s.forget = func() error {
				group.Data[0].Kill()
				if err := group.Data[1].Signal(syscall.SIGCONT); err != nil {
					return err
				}
				_, err := group.Failover(group.Sentinels[0], group.Sentinels[1:]...)
				return err
			}
			return &place{net: n, urls: []string{group.URL()}}
		}
		return s
	},
	"ClusterFailover": func() *scene {
		s := new(scene)
		s.place = func(t *testing.T) *place {
			n := redistest.NewNetwork(t)
			c := redistest.StartCluster(t, redistest.ClusterOptions{Data: data(n), Replicas: 1})
			at := c.Owner("redlockrun:{" + sceneKey + "}")
			s.before = func() error { return fallBehind(c.Masters[at], c.Replicas[at]) }
			s.forget = func() error {
				c.Masters[at].Kill()
				if err := c.Replicas[at].Signal(syscall.SIGCONT); err != nil {
					return err
				}
				return c.Failover(at)
			}
			return &place{net: n, urls: []string{c.URL()}}
		}
		return s
	},
	"QuorumThreeFlushed": func() *scene { return quorumScene(3, false) },
	"QuorumTwoFlushed":   func() *scene { return quorumScene(2, true) },
	"QuorumThreeClocksSetForward": func() *scene {
		s := new(scene)
		s.place = func(t *testing.T) *place {
			n, clock := redistest.NewNetwork(t), redistest.NewClock(t)
			wrong := redistest.StartMasters(t, 3, redistest.Options{On: n.Right, Clock: clock})
			right := redistest.StartMasters(t, 2, redistest.Options{On: n.Right})
			s.forget = func() error { return clock.Push(ahead) }
			return &place{net: n, urls: append(wrong.URLs(), right.URLs()...), flags: []string{"--durable"}}
		}
		return s
	},
}

func quorumScene(flushed int, inside bool) *scene {
	s := &scene{inside: inside}
	s.place = func(t *testing.T) *place {
		p := newPlace(t, "Quorum")
		s.forget = func() error { return flush(p.servers[:flushed]...) }
		return p
	}
	return s
}

func flush(servers ...*redistest.Server) error {
	return forEach(servers, func(s *redistest.Server) error { _, err := s.Do("FLUSHALL"); return err })
}

// fallBehind leaves a replica without what its master writes from now on: it is frozen, and no
// connection keeps anything for it.
func fallBehind(master, replica *redistest.Server) error {
	if err := replica.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	_, err := master.Do("CLIENT", "KILL", "TYPE", "replica")
	return err
}

func TestOutsideOfWhatIsPromisedTwoRunAtOnceAndAreSeen(t *testing.T) {
	length(t)
	program := build(t, seededFault{})
	for name, begin := range scenes {
		t.Run(name, func(t *testing.T) {
			ability.Need(t, ability.Networks)
			s := begin()
			p := s.place(t)
			n := newNemesis(t, p, program, 0)
			n.keys = []string{sceneKey}
			n.play(t, s)
			v := n.judge()
			result, operations, _ := n.linear(sceneKey)
			t.Logf("overlaps: %d; history of %d operations: %s", len(v.inside)+len(v.outside), operations, result)
			if seen := len(v.inside)+len(v.outside) > 0 && result == porcupine.Illegal; seen == s.inside {
				t.Errorf("two at once seen: %v; findings: %q", seen, v.findings)
			}
		})
	}
}

// play lets one run have the lock, the store forget it, and another run want it.
func (n *nemesis) play(t *testing.T, s *scene) {
	t.Helper()
	read := make(chan struct{})
	reading := make(chan error, 1)
	go func() { reading <- n.journal.follow(read) }()
	if s.before != nil {
		must(t, s.before())
	}
	first := n.actor(1, 10*time.Minute)
	var living sync.WaitGroup
	living.Go(func() { n.live(first) })
	if !redistest.Until(patience, func() bool { return n.journal.last(1) != nil }) {
		t.Fatalf("the first run does not start: %q", first.said)
	}
	must(t, s.forget())
	for number, tried := 2, time.Now(); ; number++ {
		second := n.actor(number, 300*time.Millisecond)
		n.live(second)
		if second.status == 0 || s.inside && second.status == 75 || time.Since(tried) > patience {
			t.Logf("run %d ended with %d, and said %q", number, second.status, second.said)
			break
		}
	}
	first.signal(syscall.SIGTERM)
	living.Wait()
	first.struck = append(first.struck, terminated)
	close(read)
	must(t, <-reading)
}

// actor is a run of a scene, whose lease is renewed as seldom as can be.
func (n *nemesis) actor(number int, works time.Duration) *run {
	r := &run{number: number, key: sceneKey, ttl: time.Hour, flags: []string{"--wait", "0"}}
	r.task = task{log: n.journal.path, witness: n.dir + "/witness", number: number, length: works, codes: "0"}
	return r
}

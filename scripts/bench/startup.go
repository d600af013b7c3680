//go:build linux

package main

import (
	"fmt"
	"time"
)

// redisCLI is what a shell script does instead: SET NX PX, the command, and a
// compare-and-delete.
const redisCLI = `redis-cli -p %s SET bench mine NX PX 60000 >/dev/null && true && redis-cli -p %s EVAL '
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0' 1 bench mine >/dev/null`

// startUp is what a run costs, with the guard.
func startUp(b *bench) error {
	r, err := b.contest(
		contender{name: "true", argv: []string{"true"}},
		contender{name: "flock -n FILE true", argv: b.flock("true")},
		contender{name: "redlockrun -- true", argv: b.redlockrun(b.server.URL(), "true")},
	)
	if err != nil {
		return err
	}
	b.printTimes("A run of true, from a shell, cron or systemd", r)
	b.atMost("wall time with the guard", "x flock", ratio(r[2].wall, r[1].wall), 2.8)
	b.goal("wall time with the guard", "x flock", ratio(r[2].wall, r[1].wall), 2.0)
	return nil
}

// scripted compares a run with what a script does by itself, which takes so long
// that in the contest with flock it would leave a cold cache to the others.
func scripted(b *bench) error {
	port := portOf(b.server.Addr())
	r, err := b.contest(
		contender{name: "redlockrun -- true", argv: b.redlockrun(b.server.URL(), "true")},
		contender{name: "redis-cli SET NX, true, EVAL", argv: []string{"sh", "-c", fmt.Sprintf(redisCLI, port, port)}},
	)
	if err != nil {
		return err
	}
	b.printTimes("The same by hand", r)
	return nil
}

// startUpAsInit is what a run costs as PID 1, where no guard is needed. What
// the namespace itself costs is taken off.
func startUpAsInit(b *bench) error {
	r, err := b.contest(
		contender{name: "true", argv: []string{"true"}},
		contender{name: "true", argv: []string{"true"}, init: true},
		contender{name: "flock -n FILE true", argv: b.flock("true"), init: true},
		contender{name: "redlockrun -- true", argv: b.redlockrun(b.server.URL(), "true"), init: true},
	)
	if err != nil {
		return err
	}
	bare, r := r[0], r[1:]
	wall, cpu := r[0].wall-bare.wall, r[0].cpu-bare.cpu
	for i := range r {
		r[i].wall, r[i].cpu = r[i].wall-wall, r[i].cpu-cpu
	}
	b.printTimes("The same as PID 1 of a container, without a guard", r)
	b.atMost("wall time as PID 1", "x flock", ratio(r[2].wall, r[1].wall), 2.3)
	return nil
}

// longerCommand is what redlockrun adds to a command that runs for a while.
func longerCommand(b *bench) error {
	few := *b
	few.runs = max(b.runs/10, 5)
	r, err := few.contest(
		contender{name: "sleep 0.1", argv: []string{"sleep", "0.1"}},
		contender{name: "flock -n FILE sleep 0.1", argv: b.flock("sleep", "0.1")},
		contender{name: "redlockrun -- sleep 0.1", argv: b.redlockrun(b.server.URL(), "sleep", "0.1")},
	)
	if err != nil {
		return err
	}
	b.printTimes("A command of 100 ms", r)
	b.say("added to a command of 100 ms", fmt.Sprintf("%.2f ms", milliseconds(r[2].wall-r[0].wall)))
	return nil
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

//go:build linux

package main

import (
	"fmt"
	"net"
)

// redisCLI is what a shell script does instead: SET NX PX, the command, and a
// compare-and-delete.
const redisCLI = `redis-cli -p %s SET bench mine NX PX 60000 >/dev/null && true && redis-cli -p %s EVAL '
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0' 1 bench mine >/dev/null`

// startUp is what a run costs, with the guard.
func startUp(b *bench) error {
	r, err := b.contest(b.programs, func(program string) []contender {
		return []contender{
			{name: "true", argv: []string{"true"}},
			{name: "flock -n FILE true", argv: b.flock("true")},
			{name: "redlockrun -- true", argv: redlockrun(program, b.server.URL(), "true")},
		}
	})
	if err != nil {
		return err
	}
	b.printTimes("A run of true, from a shell, cron or systemd", r)
	b.atMost("wall time with the guard", "x flock", times(r[2], r[1], wall), 2.8)
	b.goal("wall time with the guard", "x flock", times(r[2], r[1], wall), 2.0)
	return nil
}

// remembered is what the ledger adds to a run, and what a slot does.
func remembered(b *bench) error {
	r, err := b.contest(b.programs, func(program string) []contender {
		run := func(flags ...string) []string {
			return append(append([]string{program, "--key", "bench", "--redis", b.server.URL()}, flags...), "--",
				"true")
		}
		return []contender{
			{name: "--history 0", argv: run("--history", "0")},
			{name: "with the ledger", argv: run()},
			{name: "--once, done already", argv: run("--once", "done")},
		}
	})
	if err != nil {
		return err
	}
	b.printTimes("The ledger", r)
	b.atMost("wall time with the ledger", "x --history 0", times(r[1], r[0], wall), 1.05)
	return nil
}

// scripted compares a run with what a script does by itself, which takes so long
// that in the contest with flock it would leave a cold cache to the others.
func scripted(b *bench) error {
	_, port, _ := net.SplitHostPort(b.server.Addr())
	r, err := b.contest(b.programs, func(program string) []contender {
		return []contender{
			{name: "redlockrun -- true", argv: redlockrun(program, b.server.URL(), "true")},
			{name: "redis-cli SET NX, true, EVAL", argv: []string{"sh", "-c", fmt.Sprintf(redisCLI, port, port)}},
		}
	})
	if err != nil {
		return err
	}
	b.printTimes("The same by hand", r)
	return nil
}

// startUpAsInit is what a run costs as PID 1, where no guard is needed. What
// the namespace itself costs is taken off.
func startUpAsInit(b *bench) error {
	r, err := b.contest(b.programs, func(program string) []contender {
		return []contender{
			{name: "true", argv: []string{"true"}},
			{name: "true", argv: []string{"true"}, init: true},
			{name: "flock -n FILE true", argv: b.flock("true"), init: true},
			{name: "redlockrun -- true", argv: redlockrun(program, b.server.URL(), "true"), init: true},
		}
	})
	if err != nil {
		return err
	}
	withoutNamespace(r)
	r = r[1:]
	b.printTimes("The same as PID 1 of a container, without a guard", r)
	b.atMost("wall time as PID 1", "x flock", times(r[2], r[1], wall), 2.5)
	return nil
}

// withoutNamespace takes off each but the first what the second took more than that.
func withoutNamespace(r []result) {
	for k, bare := range r[0].each {
		inside := r[1].each[k]
		for _, x := range r[1:] {
			x.each[k].wall -= inside.wall - bare.wall
			x.each[k].cpu -= inside.cpu - bare.cpu
		}
	}
}

// longerCommand is what redlockrun adds to a command that runs for a while.
func longerCommand(b *bench) error {
	few := *b
	few.runs = max(b.runs/15, 5)
	r, err := few.contest(b.programs, func(program string) []contender {
		return []contender{
			{name: "sleep 0.1", argv: []string{"sleep", "0.1"}},
			{name: "flock -n FILE sleep 0.1", argv: b.flock("sleep", "0.1")},
			{name: "redlockrun -- sleep 0.1", argv: redlockrun(program, b.server.URL(), "sleep", "0.1")},
		}
	})
	if err != nil {
		return err
	}
	b.printTimes("A command of 100 ms", r)
	b.say("added to a command of 100 ms", fmt.Sprintf("%.2f ms", milliseconds(of(r[2], wall)-of(r[0], wall))))
	return nil
}

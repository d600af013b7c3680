//go:build linux

package main

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"

	"redlockrun/internal/proof/redistest"
)

// overQuorum is what acquire and release cost over several servers: beside a
// run over one, with all of them alive and with two of five frozen.
func overQuorum(b *bench) (err error) {
	masters, err := redistest.NewMasters(b.dir, 5, redistest.Options{})
	if err != nil {
		return err
	}
	defer masters.Close()
	over := func(program, what string, n int) contender {
		argv := []string{program, "--key", "bench", "--durable"}
		for _, url := range masters.URLs()[:n] {
			argv = append(argv, "--redis", url)
		}
		return contender{name: strconv.Itoa(n) + what, argv: append(argv, "--", "true")}
	}
	healthy, err := b.contest(b.programs, func(program string) []contender {
		return []contender{over(program, " server", 1), over(program, " servers", 3), over(program, " servers", 5)}
	})
	if err != nil {
		return err
	}
	for _, s := range masters.Servers[3:] {
		err = errors.Join(err, s.Signal(syscall.SIGSTOP))
	}
	if err != nil {
		return err
	}
	frozen, err := b.contest(b.programs, func(program string) []contender {
		return []contender{over(program, " server", 1), over(program, " servers, 2 frozen", 5)}
	})
	if err != nil {
		return err
	}
	b.printTimes("A run of true over a quorum", append(healthy, frozen[1]))
	five := times(healthy[2], healthy[0], wall)
	b.atMost("wall time over 5 servers", "x one server", five, 1.5)
	b.say("added by 2 frozen of 5 servers",
		fmt.Sprintf("%.2f ms", milliseconds(of(frozen[1], wall)-of(healthy[2], wall))))
	b.atMost("wall time with 2 of 5 frozen", "x five servers", times(frozen[1], frozen[0], wall)/five, 1.5)
	return nil
}

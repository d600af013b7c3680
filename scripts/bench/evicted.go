//go:build linux

package main

import (
	"fmt"
	"os"
)

// readBack is what a run costs when the program has been dropped from memory and
// read again, as on a machine that was busy with other things or has just booted.
func readBack(b *bench) error {
	dir, err := os.MkdirTemp("/var/tmp", "redlockrun-bench") // on a disk, which /tmp need not be
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := fresh(b.programs[0], dir)
	if err != nil {
		return err
	}
	cold := result{name: "the first run"}
	for _, program := range programs {
		if err := evict(program); err != nil {
			return err
		}
		first, err := contender{name: "redlockrun -- true", argv: redlockrun(program, b.server.URL(), "true")}.run()
		if err != nil {
			return err
		}
		cold.each = append(cold.each, first)
	}
	r, err := b.contest(programs, func(program string) []contender {
		return []contender{
			{name: "flock -n FILE true", argv: b.flock("true")},
			{name: "redlockrun -- true", argv: redlockrun(program, b.server.URL(), "true")},
		}
	})
	if err != nil {
		return err
	}
	b.printTimes("A run of true after the program was dropped from memory and read again", r)
	b.say("the first run, which reads it", fmt.Sprintf("%.1f ms", milliseconds(of(cold, wall))))
	b.atMost("wall time when read again", "x flock", times(r[1], r[0], wall), 3.3)
	b.goal("wall time when read again", "x flock", times(r[1], r[0], wall), 2.5)
	return nil
}

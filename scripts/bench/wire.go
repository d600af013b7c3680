//go:build linux

package main

import (
	"fmt"
	"strings"

	"redlockrun/internal/proof/redistest"
)

// wire counts what one run sends to Redis.
func wire(b *bench) error {
	proxy, err := redistest.Forward("unix", b.server.Socket())
	if err != nil {
		return err
	}
	defer proxy.Close()
	if err := command(redlockrun(b.programs[0], proxy.URL(), "true")).Run(); err != nil {
		return fmt.Errorf("run redlockrun at a counting proxy: %w", err)
	}
	var names []string
	for _, request := range proxy.Requests() {
		name, _, _ := strings.Cut(request, " ")
		names = append(names, name)
	}
	b.say("commands of one run", strings.Join(names, " "))
	b.atMost("commands of one run", "(handshake, acquire, release)", float64(len(names)), 3)
	b.atMost("round trips of one run", "", float64(proxy.RoundTrips()), 3)
	b.atMost("connections of one run", "", float64(proxy.Accepted()), 1)
	return nil
}

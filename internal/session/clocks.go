package session

import (
	"fmt"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// compareClocks warns if this host's clock, which names the slot, is so far from the server's that
// other hosts may name the same tick differently.
func (s *session) compareClocks(host time.Time, lease lock.Lease) {
	server := lease.Instants().Now
	if s.config.SlotPeriod == 0 || server.IsZero() {
		return
	}
	apart := host.Sub(server).Abs()
	if apart < s.config.SlotPeriod/2 {
		return
	}
	s.Warn(console.EventClocks, fmt.Sprintf(
		"the clocks differ by %s: it is %s on this host, which named slot %q, and %s on the server (%s)",
		config.Exact(apart.Round(time.Second)), lock.LocalTime(host), s.config.Slot.Name, lock.LocalTime(server),
		s.about.Where()),
		console.Field{Name: "apart_ms", Value: apart.Milliseconds()})
}

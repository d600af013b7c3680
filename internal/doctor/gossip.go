package doctor

import (
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock/link"
)

// told is what a peer has reported about others, for the surveys.
type told struct {
	sentinel sentinelTold
	nodes    []link.Node // of its Cluster
	down     bool        // its Cluster serves no key
	run      string      // the id of the server process; "" if it may not tell
	votes    time.Time   // when it votes, of a master that was restarted; zero: it does
	clock    *reading    // nil if it may not tell
}

// A gossip collects what several servers report about the same: each finding once, with its
// reporters unless all report it.
type gossip struct {
	found []Finding
	by    [][]string // the addresses of who tells each
}

func (h *gossip) add(from string, f Finding) {
	i := slices.Index(h.found, f)
	if i < 0 {
		i = len(h.found)
		h.found, h.by = append(h.found, f), append(h.by, nil)
	}
	if !slices.Contains(h.by[i], from) {
		h.by[i] = append(h.by[i], from)
	}
}

// findings returns the reports of the servers; asked is how many were asked.
func (h *gossip) findings(asked int) []Finding {
	for i := range h.found {
		if len(h.by[i]) < asked {
			h.found[i].Message = "according to " + strings.Join(h.by[i], ", ") + ": " + h.found[i].Message
		}
	}
	return h.found
}

// of are the visits of peers in a role.
func of(visits []*visit, role Role) (some []*visit) {
	for _, v := range visits {
		if v.Role == role {
			some = append(some, v)
		}
	}
	return some
}

// countOf is how many peers there are in a role, reached or not.
func (e *Examination) countOf(role Role) (n int) {
	for _, p := range e.Peers {
		if p.Role == role {
			n++
		}
	}
	return n
}

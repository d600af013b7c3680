package page

import (
	"strconv"
	"strings"
)

const (
	mostDrawn   = 5000      // runs and pauses are drawn each by itself; of more, only the listed bad ones are
	mostListed  = 200       // bad runs are listed, and so many jobs have the reason why they need attention
	mostPrinted = 256 << 10 // bytes of output are shown
)

// denseWidth is the width of a dense row, in the units of its drawing: a run is at least one unit wide.
const denseWidth = 500

// denseRow draws what is not drawn by itself, with one path for each look.
func (h *document) denseRow(r *row) {
	var paths [len(looks)]bars
	for _, spans := range [][]span{r.pauses, r.spans, r.overdue} {
		for _, s := range spans {
			if !s.listed {
				paths[s.look].add(s.place)
			}
		}
	}
	h.Open("svg", "viewbox", "0,0,"+strconv.Itoa(denseWidth)+",8", "preserveaspectratio", "none")
	for look := range paths {
		if path := paths[look].String(); path != "" {
			h.Element("path", "", "class", looks[look].class, "d", path)
		}
	}
	h.Close()
}

// bars is a path of bars, from left to right. Bars that touch become one.
type bars struct {
	path     strings.Builder
	from, to int  // the last bar, which is not in the path yet
	any      bool // there is one
	at       int  // where the path ends
}

func (b *bars) add(p place) {
	from := min(p.left*denseWidth/whole100, denseWidth-1)
	to := max(from+1, (p.left+p.width)*denseWidth/whole100)
	if b.any && from <= b.to {
		b.from, b.to = min(b.from, from), max(b.to, to)
		return
	}
	b.flush()
	b.from, b.to, b.any = from, to, true
}

func (b *bars) flush() {
	switch {
	case !b.any:
		return
	case b.path.Len() == 0:
		b.path.WriteString("m" + strconv.Itoa(b.from) + ",4h" + strconv.Itoa(b.to-b.from))
	default:
		b.path.WriteString("m" + strconv.Itoa(b.from-b.at) + ",0h" + strconv.Itoa(b.to-b.from))
	}
	b.at = b.to
}

func (b *bars) String() string {
	b.flush()
	return b.path.String()
}

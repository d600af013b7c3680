package page

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/report"
)

// trendHeight is the height of a trend, and trendStep the width of a run in it.
const trendHeight, trendStep = 20, 3

// mostTrend and mostDenseTrend are how many runs a trend shows.
const mostTrend, mostDenseTrend = 50, 16

// trend draws how long the last runs took, as a line from the oldest to the newest. Its foot is no time at all.
func (h *document) trend(r *row) {
	lengths := r.lengths()
	if h.dense {
		lengths = lengths[max(0, len(lengths)-mostDenseTrend):]
	}
	h.Open("td")
	if len(lengths) > 1 {
		label := report.Took(slices.Min(lengths)) + " to " + report.Took(slices.Max(lengths))
		if !h.dense {
			label = strconv.Itoa(len(lengths)) + " runs took " + label + ", the last " +
				report.Took(lengths[len(lengths)-1])
		}
		h.Open("svg", "viewbox", "0,0,"+strconv.Itoa(trendStep*(len(lengths)-1))+","+strconv.Itoa(trendHeight),
			"role", "img", "aria-label", label)
		if !h.dense {
			h.Element("title", label)
		}
		h.Element("path", "", "d", line(lengths))
		h.Close()
	}
	h.Close()
}

// lengths are how long the last recorded runs took, the oldest first.
func (r *row) lengths() (lengths []time.Duration) {
	for _, e := range report.Complete(r.job, r.job.Runs) {
		if d, known := report.RunTime(e); known && e.Act == "" && len(lengths) < mostTrend {
			lengths = append(lengths, d)
		}
	}
	slices.Reverse(lengths)
	return lengths
}

// line is the path through lengths, each step as it follows from the one before.
func line(lengths []time.Duration) string {
	longest := slices.Max(lengths)
	var path strings.Builder
	before := trendHeight
	for i, d := range lengths {
		y := trendHeight - int(float64(d)/float64(max(1, longest))*trendHeight)
		if i == 0 {
			path.WriteString("m0," + strconv.Itoa(y))
		} else {
			path.WriteString("," + strconv.Itoa(trendStep) + signed(y-before))
		}
		before = y
	}
	return path.String()
}

// signed is a number that follows another: its sign separates them, or a comma does.
func signed(n int) string {
	if n < 0 {
		return strconv.Itoa(n)
	}
	return "," + strconv.Itoa(n)
}

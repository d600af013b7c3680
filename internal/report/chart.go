package report

import (
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// barWidth is the width of the longest bar, in columns.
const barWidth = 20

// bar is a length beside the longest, in eighths of a column; what took any time at all is seen.
func bar(d, longest time.Duration) string {
	if d <= 0 || longest <= 0 {
		return ""
	}
	eighths := max(1, int(float64(min(d, longest))/float64(longest)*barWidth*8))
	return strings.Repeat("█", eighths/8) + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[eighths%8]))
}

// sparkline is the length of each run, the oldest first, with a dot where it is unknown.
func sparkline(entries []lock.Entry) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	longest := Longest(entries)
	var line strings.Builder
	for _, e := range slices.Backward(entries) {
		d, known := RunTime(e)
		switch {
		case e.Act != "":
		case !known || longest <= 0:
			line.WriteRune('·')
		default:
			line.WriteRune(steps[min(len(steps)-1, int(float64(d)/float64(longest)*float64(len(steps))))])
		}
	}
	return line.String()
}

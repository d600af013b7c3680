//go:build linux

package main

import (
	"fmt"
	"math"
	"strings"
)

// A curve is how one figure grows with the number of holders.
type curve struct {
	name string
	of   func(stage) float64
}

// A panel is a square of the picture: some curves of one unit.
type panel struct {
	title  string
	curves []curve
}

func panels() []panel {
	return []panel{
		{"renewals and looks a second", []curve{
			{"renewals", func(s stage) float64 { return s.Renewals }},
			{"renewals and looks", func(s stage) float64 { return s.Steps }}}},
		{"connections", []curve{{"", func(s stage) float64 { return float64(s.Connections) }}}},
		{"memory of the server, MB", []curve{{"", func(s stage) float64 { return s.Memory }}}},
		{"processor, % of one", []curve{
			{"server", func(s stage) float64 { return s.Server }},
			{"load program", func(s stage) float64 { return s.Load }}}},
		{"p99 in ms: acquire, hand-over", []curve{
			{"acquire", func(s stage) float64 { return s.Acquire.P99 }},
			{"hand-over", func(s stage) float64 { return s.HandOver.P99 }},
			{"hand-over, long line", func(s stage) float64 { return s.LongLine.P99 }}}},
		{"p99 in ms: status of one; median of all", []curve{
			{"one job", func(s stage) float64 { return s.Status.P99 }},
			{"all jobs", func(s stage) float64 { return s.StatusOfAll }}}},
	}
}

// The picture in user units. Both axes of a panel are logarithmic.
const (
	across, cellWidth, cellHeight         = 3, 300, 240
	plotLeft, plotTop, plotWide, plotTall = 50, 54, 230, 150
)

const style = `<style>
svg { font: 12px system-ui, sans-serif; }
.paper { fill: #ffffff; } .ink { fill: #1f2328; } .dim { fill: #59636e; } .grid { stroke: #d1d9e0; }
.c0 { stroke: #0969da; fill: #0969da; } .c1 { stroke: #bc4c00; fill: #bc4c00; } .c2 { stroke: #1a7f37; fill: #1a7f37; }
polyline { fill: none !important; stroke-width: 2; } text { stroke: none; }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117; } .ink { fill: #f0f6fc; } .dim { fill: #9198a1; } .grid { stroke: #3d444d; }
.c0 { stroke: #4493f8; fill: #4493f8; } .c1 { stroke: #f0883e; fill: #f0883e; } .c2 { stroke: #3fb950; fill: #3fb950; }
}
</style>
`

// draw is the picture of how all grows, as SVG.
func draw(growth []stage) string {
	all := panels()
	width, height := across*cellWidth, (len(all)+across-1)/across*cellHeight
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" `+
		`role="img">`+"\n",
		width, height)
	fmt.Fprintf(&b, "<title>How connections, memory, processor and times grow from %d to %d holders</title>\n",
		holdersOf(growth, 0), holdersOf(growth, -1))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	for i, p := range all {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", i%across*cellWidth, i/across*cellHeight)
		p.draw(&b, growth)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func holdersOf(growth []stage, i int) int {
	if len(growth) == 0 {
		return 0
	}
	return growth[(i+len(growth))%len(growth)].Holders
}

func (p panel) draw(b *strings.Builder, growth []stage) {
	fmt.Fprintf(b, `<text class="ink" x="8" y="20" font-weight="600">%s</text>`+"\n", p.title)
	xs := newAxis(growth, []curve{{"", func(s stage) float64 { return float64(s.Holders) }}}, plotWide)
	ys := newAxis(growth, p.curves, plotTall)
	for _, v := range xs.marks() {
		x := plotLeft + xs.at(v)
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, x, plotTop, x, plotTop+plotTall)
		fmt.Fprintf(b, `<text class="dim" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, plotTop+plotTall+16,
			brief(v))
	}
	fmt.Fprintf(b, `<text class="dim" x="%d" y="%d" text-anchor="middle">holders</text>`+"\n",
		plotLeft+plotWide/2, plotTop+plotTall+32)
	for _, v := range ys.marks() {
		y := plotTop + plotTall - ys.at(v)
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`, plotLeft, y, plotLeft+plotWide, y)
		fmt.Fprintf(b, `<text class="dim" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLeft-6, y+4, brief(v))
	}
	legend := 8
	for i, c := range p.curves {
		fmt.Fprintf(b, `<g class="c%d">`, i)
		p.line(b, growth, c, xs, ys)
		if c.name != "" {
			fmt.Fprintf(b, `<text x="%d" y="38">%s</text>`, legend, c.name)
			legend += 8*len(c.name) + 10
		}
		b.WriteString("</g>\n")
	}
}

// line is a curve, and a dot for each time that it was measured. What is 0 was not.
func (p panel) line(b *strings.Builder, growth []stage, c curve, xs, ys axis) {
	var points, dots strings.Builder
	for _, s := range growth {
		if c.of(s) > 0 {
			x, y := plotLeft+xs.at(float64(s.Holders)), plotTop+plotTall-ys.at(c.of(s))
			fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
			fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="3"/>`, x, y)
		}
	}
	fmt.Fprintf(b, `<polyline points="%s"/>%s`, strings.TrimSpace(points.String()), dots.String())
}

// An axis is logarithmic, from one power of ten to another.
type axis struct{ low, high, length float64 }

func newAxis(growth []stage, curves []curve, length float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range growth {
		for _, c := range curves {
			if v := c.of(s); v > 0 {
				low, high = min(low, math.Log10(v)), max(high, math.Log10(v))
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	low, high = math.Floor(low), math.Ceil(high)
	return axis{low, max(high, low+1), length}
}

func (a axis) at(v float64) float64 { return a.length * (math.Log10(v) - a.low) / (a.high - a.low) }

// marks are the powers of ten.
func (a axis) marks() (marks []float64) {
	for e := a.low; e <= a.high; e++ {
		marks = append(marks, math.Pow(10, e))
	}
	return marks
}

// brief is a power of ten in few characters.
func brief(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0fk", v/1000)
	}
	return fmt.Sprint(math.Round(v*1000) / 1000)
}

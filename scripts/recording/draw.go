//go:build linux

package main

import (
	"fmt"
	"html"
	"strings"
	"time"
)

// The terminal, in columns and pixels.
const (
	columns = 100
	wide    = 8.4
	high    = 20
	border  = 20
)

// typing is how long a typed line is read before its answer comes.
const typing = 1200 * time.Millisecond

const style = `<style>
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #1f2328 }
  rect { fill: #f6f8fa; stroke: #d1d9e0 }
  .typed { font-weight: bold; fill: #0550ae }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    rect { fill: #0d1117; stroke: #30363d }
    .typed { fill: #79c0ff }
  }
  @keyframes hidden { from, to { visibility: hidden } }
  @media (prefers-reduced-motion: reduce) { text { animation: none !important } }
</style>
`

// draw is an SVG in which each line appears at its time. Without animation all lines are there.
func draw(lines []line) string {
	lines = paced(lines)
	var rows strings.Builder
	at := 0
	for _, each := range lines {
		for _, part := range wrapped(each.text) {
			at++
			class := ""
			if each.typed {
				class = ` class="typed"`
			}
			fmt.Fprintf(&rows, "<text%s x=\"%d\" y=\"%d\" style=\"animation: hidden %.1fs\">%s</text>\n",
				class, border, border+at*high-high/4, each.at.Seconds(), html.EscapeString(part))
		}
	}
	width, height := int(columns*wide)+2*border, at*high+2*border
	const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" xml:space="preserve" role="img">
<title>redlockrun on two hosts</title>
`
	return fmt.Sprintf(head, width, height) + style +
		fmt.Sprintf("<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width-1, height-1) +
		rows.String() + "</svg>\n"
}

// paced gives the reader time for each typed line, and keeps longer waits as they were.
func paced(lines []line) []line {
	var shift, last time.Duration
	slow := make([]line, len(lines))
	for i, each := range lines {
		if i > 0 && (each.typed || lines[i-1].typed) {
			shift += max(0, typing-(each.at-last))
		}
		last = each.at
		each.at += shift
		slow[i] = each
	}
	return slow
}

// wrapped breaks a line where a terminal does.
func wrapped(text string) (parts []string) {
	letters := []rune(text)
	for len(letters) > columns {
		parts = append(parts, string(letters[:columns]))
		letters = letters[columns:]
	}
	return append(parts, string(letters))
}

//go:build linux

package main

import (
	"fmt"
	"strings"
)

// tables are the figures as Markdown.
func (f *figures) tables() string {
	var b strings.Builder
	f.growthTable(&b)
	b.WriteByte('\n')
	f.limitTable(&b)
	return b.String()
}

// row writes one line of a table.
func row(b *strings.Builder, cells ...any) {
	for _, c := range cells {
		if v, ok := c.(float64); ok {
			c = figure(v)
		}
		fmt.Fprintf(b, "| %v ", c)
	}
	b.WriteString("|\n")
}

// figure is a number to three places, as far as they tell.
func figure(v float64) string {
	switch {
	case v >= 100:
		return thousands(int(v + 0.5))
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func (f *figures) growthTable(b *strings.Builder) {
	row(b, "holders", "waiters", "connections", "renewals/s", "with looks/s", "server CPU %", "server MB", "acquire",
		"hand-over",
		"in the long line", "status", "of all jobs", "load CPU %")
	b.WriteString(strings.Repeat("| ---: ", 13) + "|\n")
	for _, s := range f.Growth {
		row(b, thousands(s.Holders), thousands(s.Waiters), thousands(s.Connections), s.Renewals, s.Steps, s.Server,
			s.Memory,
			pair(s.Acquire), pair(s.HandOver), pair(s.LongLine), pair(s.Status), s.StatusOfAll, s.Load)
	}
}

// pair is median and p99.
func pair(s spread) string { return fmt.Sprintf("%.1f / %.1f", s.Median, s.P99) }

func (f *figures) limitTable(b *strings.Builder) {
	row(b, "renewals/s", "server CPU %", "load CPU %", "p99 of a renewal, ms", "without an answer", "lost")
	b.WriteString(strings.Repeat("| ---: ", 6) + "|\n")
	for _, r := range f.Costs.Limit {
		row(b, r.Renewals, r.Server, r.Load, r.P99, r.Failed, r.Lost)
	}
}

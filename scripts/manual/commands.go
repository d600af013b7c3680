package main

import (
	"regexp"
	"strings"
)

// commands are the helps of the commands, but for what all of them have.
func (p *page) commands(helps []help) {
	p.section("COMMANDS")
	p.texts(commandsText)
	for _, h := range helps {
		p.line(".SS %s", roff("redlockrun "+h.command))
		own, shared, _ := strings.Cut(h.text, "\n\nD is a duration")
		for _, block := range strings.Split(strings.TrimSpace(own), "\n\n") {
			p.block(block)
		}
		if _, statuses, found := strings.Cut(shared, "\n\nexit status: "); found {
			p.gap()
			p.paragraph("Exit status: " + statuses)
		}
	}
}

// block is one of the paragraphs of a help: text, or lines under a word.
func (p *page) block(block string) {
	title, lines, _ := strings.Cut(block, "\n")
	switch title {
	case "usage:", "examples:":
		p.gap()
		p.paragraph(strings.ToUpper(title[:1]) + title[1:])
		p.example(unindented(lines))
	case "flags:":
		for _, t := range flagLines(lines) {
			p.term(t.word, sentence(t.means)+".")
		}
	default:
		p.gap()
		p.paragraph(block)
	}
}

func unindented(lines string) string {
	return regexp.MustCompile(`(?m)^  `).ReplaceAllString(lines, "")
}

// flagLines are the flags of a help, each with what it means: two columns.
func flagLines(lines string) (flags []term) {
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(strings.TrimSpace(line), "-") {
			last := &flags[len(flags)-1]
			last.means = strings.TrimSpace(last.means + " " + strings.TrimSpace(line))
			continue
		}
		name, means, _ := strings.Cut(strings.TrimSpace(line), "  ")
		flags = append(flags, term{name, strings.TrimSpace(means)})
	}
	return flags
}

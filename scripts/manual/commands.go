package main

import (
	"regexp"
	"strings"

	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
)

// commands are the helps of the commands, but for what all of them have.
func (p *page) commands(commands []*operator.Command) {
	p.section("COMMANDS")
	p.texts(commandsText)
	for _, c := range commands {
		p.line(".SS %s", roff("redlockrun "+c.Name()))
		p.paragraphs(c.Long)
		p.lines("Usage:", c.Calls)
		p.paragraphs(c.Remarks)
		for _, f := range c.OwnFlags() {
			p.term(flagset.Lettered(f.Shorthand, flagset.KindOf(f).Flag(f.Name)), meaning(f.Usage))
		}
		p.paragraphs(c.Notes)
		examples, more, _ := strings.Cut(c.Example, "\n\n")
		p.lines("Examples:", examples)
		p.paragraphs(more)
		if !c.Bare {
			p.paragraphs("Exit status: " + c.ExitStatus())
		}
	}
}

func (p *page) paragraphs(text string) {
	for _, paragraph := range strings.Split(text, "\n\n") {
		if paragraph != "" {
			p.gap()
			p.paragraph(paragraph)
		}
	}
}

// lines writes command lines under a title.
func (p *page) lines(title, lines string) {
	p.gap()
	p.paragraph(title)
	p.example(regexp.MustCompile(`(?m)^  `).ReplaceAllString(lines, ""))
}

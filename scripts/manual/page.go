package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A page is roff as man(7) has it, written line by line.
type page struct{ strings.Builder }

// A term is a word and what it means.
type term struct{ word, means string }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(name string) { p.line(".SH %s", name) }

// gap begins a paragraph, unless a section has just begun.
func (p *page) gap() {
	lines := strings.Split(strings.TrimSpace(p.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, ".S") {
		p.line(".PP")
	}
}

// paragraph writes text, a sentence a line.
func (p *page) paragraph(text string) {
	words := 0
	for _, word := range strings.Fields(text) {
		switch {
		case words == 0:
		case words+len(word) > 70 || strings.HasSuffix(p.String(), ".") || strings.HasSuffix(p.String(), ":"):
			p.WriteByte('\n')
			words = 0
		default:
			p.WriteByte(' ')
		}
		if words == 0 {
			word = unlike(word)
		}
		p.WriteString(roff(word))
		words += len(word) + 1
	}
	p.WriteByte('\n')
}

// unlike is a word that stands first in a line, and is no request for that.
func unlike(word string) string {
	if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "'") {
		return `\&` + word
	}
	return word
}

// texts are paragraphs, with an empty line between.
func (p *page) texts(text string) {
	for _, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		p.gap()
		p.paragraph(part)
	}
}

func (p *page) terms(all []term) {
	for _, t := range all {
		p.term(t.word, t.means)
	}
}

func (p *page) term(word, means string) {
	p.line(".TP")
	p.line("%s", flagged(word))
	p.paragraph(means)
}

// call is a command line that is no example: what is typed as it stands is bold.
func (p *page) call(program, words string) {
	p.line(`\fB%s\fR %s`, roff(program), flagged(words))
}

// example is lines as they are.
func (p *page) example(lines string) {
	p.line(".RS 4")
	p.line(".EX")
	for line := range strings.Lines(strings.Trim(lines, "\n") + "\n") {
		p.line("%s", roff(unlike(strings.TrimSuffix(line, "\n"))))
	}
	p.line(".EE")
	p.line(".RE")
}

var aFlagOrValue = regexp.MustCompile(`--?[A-Za-z][a-z-]*|\b[A-Z]+\b`)

// flagged is words with flags in bold and values in italics; all of it in bold if there are none.
func flagged(words string) string {
	var b strings.Builder
	at := 0
	for _, m := range aFlagOrValue.FindAllStringIndex(words, -1) {
		font := "I"
		if words[m[0]] == '-' {
			font = "B"
		}
		b.WriteString(roff(words[at:m[0]]) + `\f` + font + roff(words[m[0]:m[1]]) + `\fR`)
		at = m[1]
	}
	if at == 0 || strings.Contains(words, "_") {
		return `\fB` + roff(words) + `\fR`
	}
	return b.String() + roff(words[at:])
}

// roff is text that means itself.
func roff(text string) string {
	return strings.NewReplacer(`\&`, `\&`, `\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", "\\(ga", `^`, `\(ha`, `~`, `\(ti`,
		`"`, `\(dq`).Replace(text)
}

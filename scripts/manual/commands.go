package main

import (
	"regexp"
	"strings"

	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
)

// commandManual is the page of an operator command.
func commandManual(date string, c *operator.Command, all []*operator.Command) string {
	p := new(page)
	p.line(`.TH REDLOCKRUN\-%s 1 %s`, roff(strings.ToUpper(c.Name())), date)
	p.section("NAME")
	p.paragraph("redlockrun-" + c.Name() + " - " + c.Short)
	p.section("SYNOPSIS")
	p.calls(c.Calls)
	p.section("DESCRIPTION")
	p.paragraphs(c.Long)
	p.paragraphs(c.Remarks)
	p.paragraphs(c.Notes)
	p.commandOptions(c)
	p.section("EXIT STATUS")
	p.terms(statusTerms(c.ExitStatus()))
	p.section("EXAMPLES")
	p.examples(c.Example)
	p.section("SEE ALSO")
	p.paragraph("redlockrun(1), " + others(c.Name(), all))
	return p.String()
}

// calls writes usage lines, without what each does.
func (p *page) calls(lines string) {
	n := 0
	for line := range strings.Lines(lines) {
		words, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if n++; n > 1 {
			p.line(".br")
		}
		p.call("redlockrun", strings.TrimPrefix(words, "redlockrun "))
	}
}

func (p *page) commandOptions(c *operator.Command) {
	p.section("OPTIONS")
	for _, f := range c.OwnFlags() {
		p.term(flagset.Lettered(f.Shorthand, flagset.KindOf(f).Flag(f.Name)), meaning(f.Usage))
	}
	p.term("-h, --help", "Print the help.")
	if !c.Bare {
		p.texts(commonOptions)
	}
}

// commonOptions are in the page of each command that asks Redis.
const commonOptions = `
D is a duration: seconds (60, 0.5), or with units (90s, 2m30s). The options of the address of Redis
and of messages, such as --redis, --prefix and -v, are those of redlockrun(1). They have the same
variables and the same file. Times come from the server, and are shown in local time.
`

var aStatus = regexp.MustCompile(`(?:^|[,;] )(\d+) `)

// statusTerms returns the statuses of a text such as "0 done, 64 usage, or a bad name."
func statusTerms(text string) (all []term) {
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	found := aStatus.FindAllStringSubmatchIndex(text, -1)
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		all = append(all, term{text[m[2]:m[3]], sentence(text[m[1]:end]) + "."})
	}
	return all
}

// examples writes indented lines as they are, and others as paragraphs.
func (p *page) examples(text string) {
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			p.example(strings.Join(lines, "\n"))
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if code, indented := strings.CutPrefix(line, "  "); indented {
			lines = append(lines, code)
			continue
		}
		flush()
		if line != "" {
			p.gap()
			p.paragraph(sentence(line))
		}
	}
	flush()
}

func (p *page) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if paragraph != "" {
			p.gap()
			p.paragraph(sentence(paragraph))
		}
	}
}

// others names the pages of all commands but one.
func others(name string, all []*operator.Command) string {
	var names []string
	for _, c := range all {
		if c.Name() != name {
			names = append(names, "redlockrun-"+c.Name()+"(1)")
		}
	}
	return strings.Join(names, ", ")
}

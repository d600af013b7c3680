// Manual writes the manual page of redlockrun to stdout, in roff: of the table of settings, of
// the commands as the program has them, and of the texts beside this file.
//
//	manual DATE
package main

import (
	"fmt"
	"os"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DATE")
		os.Exit(64)
	}
	fmt.Print(manual(os.Args[1], operator.All()))
}

// manual is the page.
func manual(date string, commands []*operator.Command) string {
	p := new(page)
	p.line(`.TH REDLOCKRUN 1 %s`, date)
	p.section("NAME")
	p.paragraph("redlockrun - run a command while holding a lock in Redis")
	p.synopsis(commands)
	p.section("DESCRIPTION")
	p.texts(description)
	p.options()
	p.commands(commands)
	p.section("EXIT STATUS")
	p.terms(statuses)
	p.section("ENVIRONMENT")
	p.texts(environment)
	p.terms(variables)
	p.section("FILES")
	p.terms(files)
	p.section("NAMES IN JSON")
	p.texts(jsonText)
	for _, o := range objects {
		p.line(".SS %s", roff(o.title))
		p.terms(o.names)
	}
	p.section("EXAMPLES")
	for _, e := range examples {
		p.gap()
		p.paragraph(e[0])
		p.example(e[1])
	}
	p.section("BUGS")
	p.texts(bugs)
	p.section("SEE ALSO")
	p.paragraph(seeAlso)
	return p.String()
}

func (p *page) synopsis(commands []*operator.Command) {
	p.section("SYNOPSIS")
	p.call("redlockrun", "--key NAME [flags] [--] COMMAND [ARG...]")
	p.line(".br")
	p.call("redlockrun", "--key NAME [flags] -c 'SHELL TEXT'")
	for _, c := range commands {
		for line := range strings.Lines(c.Calls) {
			words, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
			p.line(".br")
			p.call("redlockrun", strings.TrimPrefix(words, "redlockrun "))
		}
	}
}

// options are the settings, in groups, and the flags that are none.
func (p *page) options() {
	p.section("OPTIONS")
	p.texts(optionsText)
	for group := range config.GroupCount {
		p.line(".SS %s", roff(sentence(group.String())))
		for _, s := range config.Settings() {
			if s.Group == group {
				p.option(s)
			}
		}
		if group == config.GroupCommand {
			p.term("-c 'SHELL TEXT'", "Run SHELL TEXT by /bin/sh -c, in place of COMMAND.")
		}
	}
	p.line(".SS Others")
	p.term("-h, --help", "Print the help.")
	p.term("--version", "Print tag, commit and date, and which Go has built it for which platform.")
}

func (p *page) option(s config.Setting) {
	text := meaning(s.Usage)
	if s.Default != "" && !strings.Contains(s.Usage, s.Default+")") {
		text += " The default is " + s.Default + "."
	}
	p.term(flagset.Lettered(s.Short, s.Flag()), strings.TrimSpace(text+" "+more[s.Name]))
}

// meaning is what a flag means, as sentences.
func meaning(usage string) string { return sentence(strings.ReplaceAll(usage, "\n", " ")) + "." }

func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); strings.ContainsAny(first, ":/") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

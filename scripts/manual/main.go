// Manual writes the manual page of redlockrun to stdout, in roff: of the table of settings, of
// what the program at hand says of its commands, and of the texts beside this file.
//
//	manual PROGRAM DATE
package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"redlockrun/internal/config"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manual PROGRAM DATE")
		os.Exit(64)
	}
	helps, err := helpsOf(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(manual(os.Args[2], helps))
}

// A help is what a command of an operator says of itself.
type help struct{ command, text string }

// helpsOf asks a program for the helps of its commands.
func helpsOf(program string) (helps []help, err error) {
	all, err := exec.Command(program, "help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s help: %w", program, err)
	}
	for _, command := range commandsIn(string(all)) {
		text, err := exec.Command(program, "help", command).Output()
		if err != nil {
			return nil, fmt.Errorf("%s help %s: %w", program, command, err)
		}
		helps = append(helps, help{command, string(text)})
	}
	return helps, nil
}

// commandsIn are the first words of the lines under "for operators".
func commandsIn(help string) (names []string) {
	_, list, _ := strings.Cut(help, "\nfor operators")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, m := range regexp.MustCompile(`(?m)^ {2}([a-z-]+) `).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

// manual is the page.
func manual(date string, helps []help) string {
	p := new(page)
	p.line(`.TH REDLOCKRUN 1 %s`, date)
	p.section("NAME")
	p.paragraph("redlockrun - run a command while holding a lock in Redis")
	p.synopsis(helps)
	p.section("DESCRIPTION")
	p.texts(description)
	p.options()
	p.commands(helps)
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

func (p *page) synopsis(helps []help) {
	p.section("SYNOPSIS")
	p.call("redlockrun", "--key NAME [flags] [--] COMMAND [ARG...]")
	p.line(".br")
	p.call("redlockrun", "--key NAME [flags] -c 'SHELL TEXT'")
	for _, h := range helps {
		_, usage, _ := strings.Cut(h.text, "\nusage:\n")
		usage, _, _ = strings.Cut(usage, "\n\n")
		for line := range strings.Lines(usage) {
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
	name := s.Flag()
	if s.Short != "" {
		name = "-" + s.Short + ", " + name
	}
	text := sentence(strings.ReplaceAll(s.Usage, "\n", " ")) + "."
	if s.Default != "" && !strings.Contains(s.Usage, s.Default+")") {
		text += " The default is " + s.Default + "."
	}
	p.term(name, strings.TrimSpace(text+" "+more[s.Name]))
}

func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); strings.ContainsAny(first, ":/") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

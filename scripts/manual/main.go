// Manual writes the manual pages of redlockrun into a directory, in roff: redlockrun(1), and one
// for each command. They come from the table of settings, the commands as the program has them,
// and the texts beside this file.
//
//	manual DATE DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
	"redlockrun/internal/topic"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manual DATE DIR")
		os.Exit(64)
	}
	for name, text := range manuals(os.Args[1], operator.All()) {
		if err := os.WriteFile(filepath.Join(os.Args[2], name), []byte(text), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "manual:", err)
			os.Exit(71)
		}
	}
}

// manuals returns all pages, by the names of their files.
func manuals(date string, commands []*operator.Command) map[string]string {
	pages := map[string]string{"redlockrun.1": manual(date, commands)}
	for _, c := range commands {
		pages["redlockrun-"+c.Name()+".1"] = commandManual(date, c, commands)
	}
	return pages
}

// manual is the page of the program.
func manual(date string, commands []*operator.Command) string {
	p := new(page)
	p.line(`.TH REDLOCKRUN 1 %s`, date)
	p.section("NAME")
	p.paragraph("redlockrun - run a command while holding a lock in Redis")
	p.synopsis()
	p.section("DESCRIPTION")
	p.texts(description)
	p.options()
	p.section("COMMANDS")
	p.texts(commandsText)
	for _, c := range commands {
		p.term("redlockrun "+c.Name(), sentence(c.Short)+". See redlockrun-"+c.Name()+"(1).")
	}
	p.term("redlockrun help", "Prints the help of redlockrun, of a command, or on a topic: "+
		strings.Join(topic.Names(), ", ")+".")
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
	p.paragraph(others("", commands) + ", " + seeAlso)
	return p.String()
}

func (p *page) synopsis() {
	p.section("SYNOPSIS")
	p.call("redlockrun", "--key NAME [flags] [--] COMMAND [ARG...]")
	p.line(".br")
	p.call("redlockrun", "--key NAME [flags] -c 'SHELL TEXT'")
	p.line(".br")
	p.call("redlockrun", "status|history|pause|... [flags] [NAME...]")
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
			p.term("-c 'SHELL TEXT'", "Run SHELL TEXT with /bin/sh -c, instead of COMMAND.")
		}
	}
	p.line(".SS Others")
	p.term("-h", "Print a short help.")
	p.term("--help", "Print all flags and commands.")
	p.term("--version", "Print the tag, the commit and its date, the version of Go, and the platform.")
}

func (p *page) option(s config.Setting) {
	text := meaning(s.Usage)
	if s.Default != "" && !strings.Contains(s.Usage, s.Default+")") {
		text += " The default is " + s.Default + "."
	}
	p.term(flagset.Lettered(s.Short, s.Flag()), strings.TrimSpace(text+" "+more[s.Name]))
}

// meaning is what a flag means, as sentences: a line that begins with a capital begins one.
func meaning(usage string) string {
	var b strings.Builder
	for i, line := range strings.Split(usage, "\n") {
		switch {
		case i > 0 && strings.ToUpper(line[:1]) == line[:1] && strings.ToLower(line[:1]) != line[:1]:
			b.WriteString(". ")
		case i > 0:
			b.WriteString(" ")
		}
		b.WriteString(line)
	}
	return sentence(b.String()) + "."
}

func sentence(text string) string {
	if first, _, _ := strings.Cut(text, " "); strings.ContainsAny(first, ":/") || first == "redlockrun" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

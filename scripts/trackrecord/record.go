package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A fault was found in the program and mended. It is shown by a test, by a script, or by
// reading alone.
type fault struct {
	commit string // that mended it, abbreviated
	date   string // of the commit
	part   string // lock, link, line, quorum, watchdog, guard, runner, ...
	text   string // what went wrong, as a user would say it

	test string // the package and the pattern of the tests, as they are called at the commit
	now  string // the same in today's tree, if they have moved since
	take string // the test files that are taken from the commit, if not all of them
	from string // the commit that the tests are taken from, if they came later
	says string // what the failing test or script prints

	script string // in scripts/trackrecord, called with a redlockrun
	read   string // why there is no command that shows it
}

// parse reads blocks of lines with a name and a value; a line that begins with a blank goes
// on with the value before it.
func parse(text string) (faults []fault, err error) {
	for block := range strings.SplitSeq(text, "\n\n") {
		block = comments.ReplaceAllString(block+"\n", "")
		block = strings.TrimSpace(continued.ReplaceAllString(block, " "))
		if block == "" {
			continue
		}
		f, err := parseOne(block)
		if err != nil {
			return nil, fmt.Errorf("%s: %w in\n%s", recordFile, err, block)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

var (
	comments  = regexp.MustCompile(`(?m)^#.*\n`)
	continued = regexp.MustCompile(`\n[ \t]+`)
)

func parseOne(block string) (f fault, err error) {
	fields := map[string]*string{
		"commit": &f.commit, "date": &f.date, "part": &f.part, "fault": &f.text, "test": &f.test, "now": &f.now,
		"take": &f.take, "from": &f.from, "says": &f.says, "script": &f.script, "read": &f.read,
	}
	for line := range strings.SplitSeq(block, "\n") {
		name, value, _ := strings.Cut(line, " ")
		field := fields[name]
		if field == nil || *field != "" {
			return f, fmt.Errorf("%q is no field, or is there twice,", name)
		}
		*field = strings.TrimSpace(value)
	}
	return f, f.whole()
}

// parts are the parts of the program, in the order of the table.
var parts = []string{
	"lock", "link", "line", "quorum", "local", "watchdog", "guard", "runner", "terminal", "signals",
	"session", "slots", "operators", "doctor", "report", "console", "settings", "build", "pages",
}

func (f fault) whole() error {
	switch {
	case !regexp.MustCompile(`^[0-9a-f]{7}$`).MatchString(f.commit):
		return fmt.Errorf("commit %q is not seven digits", f.commit)
	case !regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(f.date):
		return fmt.Errorf("date %q is none", f.date)
	case !slices.Contains(parts, f.part):
		return fmt.Errorf("part %q is none of %q", f.part, parts)
	case f.text == "" || strings.Contains(f.text, "|"):
		return fmt.Errorf("the fault is not told, or with a bar,")
	case count(f.test, f.script, f.read) != 1:
		return fmt.Errorf("there is not one of test, script, read")
	case f.test != "" && !strings.Contains(f.test, " "):
		return fmt.Errorf("test %q lacks its package", f.test)
	}
	return nil
}

func count(texts ...string) (n int) {
	for _, text := range texts {
		if text != "" {
			n++
		}
	}
	return n
}

// shown reports whether there is a command that shows a fault.
func (f fault) shown() bool { return f.read == "" }

// today is the test as it is in today's tree.
func (f fault) today() string {
	if f.now != "" {
		return f.now
	}
	return f.test
}

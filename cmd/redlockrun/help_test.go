package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlockrun/internal/config"
	"redlockrun/internal/explain"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"
)

func TestHelpNamesEveryFlagOnceAndItsDefault(t *testing.T) {
	text := help()
	for _, s := range config.Settings() {
		line := regexp.MustCompile(`(?m)^(?: {6}|  -` + s.Short + `, )--` + s.Name + `( |$|\[)`)
		if n := len(line.FindAllString(text, -1)); n != 1 {
			t.Errorf("--%s is there %d times", s.Name, n)
		}
		_, after, _ := strings.Cut(text, s.Flag()+" ")
		if after, _, _ = strings.Cut(after, "  --"); s.Default != "" && !strings.Contains(after, s.Default) {
			t.Errorf("the help lacks the default of --%s, %s", s.Name, s.Default)
		}
	}
	if n := strings.Count(text, "\n"); n > 120 {
		t.Errorf("the help has %d lines", n)
	}
	wantNarrow(t, text)
}

// wantNarrow fails the test unless text fits into 100 columns.
func wantNarrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > 100 {
			t.Errorf("a line has %d columns: %s", len(line), line)
		}
	}
}

func TestTheShortHelpIsShort(t *testing.T) {
	texts := map[string]string{"redlockrun": briefHelp()}
	for _, c := range operator.All() {
		texts[c.Name()] = c.BriefHelp()
	}
	for name, text := range texts {
		wantNarrow(t, text)
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%s -h has %d lines", name, n)
		}
	}
}

// A shell shows the first line of a usage alone: it must be a whole phrase.
func TestWhatCompletionShowsIsAWholePhrase(t *testing.T) {
	usages := make(map[string]string)
	for _, s := range config.Settings() {
		usages["--"+s.Name] = s.Usage
	}
	for _, c := range operator.All() {
		usages[c.Name()] = c.Short
		for _, f := range c.OwnFlags() {
			usages[c.Name()+" --"+f.Name] = f.Usage
		}
	}
	cut := regexp.MustCompile(`[,:;(]$|\b(and|or|with|by|the|of|for|if|in|to)$`)
	for name, usage := range usages {
		if first, _, _ := strings.Cut(usage, "\n"); len(first) < 12 || cut.MatchString(first) {
			t.Errorf("%s is described as %q", name, first)
		}
	}
}

func TestTheIntroductionAndWhatIsMissingAreTenLines(t *testing.T) {
	_, err := read(nil)
	wantRefused(t, err, "no key was given")
	if n := strings.Count(introduction, "\n") + len(explain.Of(err, explain.About{}).Hints) + 1; n != 10 {
		t.Errorf("it has %d lines", n)
	}
	wantNarrow(t, introduction)
}

func TestEachCommandHasItsHelp(t *testing.T) {
	for _, c := range operator.All() {
		text := c.HelpText()
		wantNarrow(t, text)
		if !strings.Contains(help(), "  "+c.Name()) || c.Short == "" || strings.Contains(c.Short, "\n") {
			t.Errorf("redlockrun --help lacks %s, or what it does in one line: %q", c.Name(), c.Short)
		}
		for _, f := range c.OwnFlags() {
			line := "--" + f.Name + "  "
			if kind := flagset.KindOf(f); kind != config.KindSwitch {
				line = "--" + f.Name + " " + kind.Value() + "  "
			}
			if n := strings.Count(text, line); n != 1 || f.Usage == "" {
				t.Errorf("%s: %q is in the help %d times", c.Name(), line, n)
			}
		}
		if strings.Contains(c.Calls, "NAME") != (c.Operands == config.KindJob) {
			t.Errorf("%s: a shell does not complete what its usage calls NAME", c.Name())
		}
	}
}

// A user who copies an example must not get an error about an unknown flag.
func TestExamplesAreUnderstood(t *testing.T) {
	texts := map[string]string{"": help(), "introduction": introduction}
	for _, c := range operator.All() {
		texts[c.Name()] = c.HelpText()
	}
	for name, text := range texts {
		if _, after, found := strings.Cut(text, "\nexamples:\n"); found {
			text, _, _ = strings.Cut(after, "\n\n")
		} else if name != "introduction" {
			t.Errorf("the help of %q has no examples", name)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if calls := calls(line); strings.HasPrefix(line, "  ") && len(calls) > 0 {
				lines++
				for _, call := range calls {
					wantUnderstood(t, call)
				}
			}
		}
		if lines < 2 {
			t.Errorf("the help of %q has %d examples", name, lines)
		}
	}
}

// calls are the words of each call of redlockrun in a line of shell or of a crontab.
func calls(line string) (found [][]string) {
	var words []string
	word := regexp.MustCompile(`'[^']*'|"[^"]*"|#.*|&&|[;|<>]|[^\s'";|<>]+`)
	for _, w := range append(word.FindAllString(line, -1), ";") {
		switch {
		case strings.Contains("&&;|", w):
			if i := slices.Index(words, "redlockrun"); i >= 0 {
				found = append(found, words[i+1:])
			}
			words = nil
		case !strings.HasPrefix(w, "#"):
			words = append(words, strings.Trim(w, `'"`))
		}
	}
	return found
}

// wantUnderstood fails the test if the program would refuse words as wrong.
func wantUnderstood(t *testing.T, words []string) {
	t.Helper()
	c := operator.Named(words[0])
	if c == nil {
		if words[0] == helpCommand {
			return // it is run as it is
		}
		if _, err := read(nil, words...); err != nil {
			t.Errorf("redlockrun %q: %v", words, err)
		}
		return
	}
	_, err := c.Parse(slices.DeleteFunc(words[1:], func(w string) bool { return w == ">" }))
	if err == nil {
		_, err = config.NewSources(c.Said.Words(), func(string) (string, bool) { return "", false }, nil).Operator()
	}
	if err != nil {
		t.Errorf("redlockrun %q: %v", words, err)
	}
}

// The words that the table calls a value's only ones are taken, and no others.
func TestChoicesAreTakenAndNothingElse(t *testing.T) {
	for _, s := range config.Settings() {
		for _, choice := range s.Kind.Choices() {
			if _, err := read(nil, "-k", "x", "--"+s.Name, choice, "true"); err != nil {
				t.Errorf("--%s %s: %v", s.Name, choice, err)
			}
		}
		if s.Kind.Choices() != nil {
			_, err := read(nil, "-k", "x", "--"+s.Name, "nonesuch", "true")
			wantRefused(t, err, "--"+s.Name+" is one of "+strings.Join(s.Kind.Choices(), ", "))
		}
	}
}

package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// userPages returns the pages that users read, by path.
func userPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{"README.md": read(t, "README.md")}
	for _, pattern := range []string{"../docs/*.md", "../docs/monitoring/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			path = strings.TrimPrefix(path, "../")
			pages[path] = read(t, path)
		}
	}
	return pages
}

// plainPages returns all pages whose sentences are held to the rules.
func plainPages(t *testing.T) map[string]string {
	t.Helper()
	pages := userPages(t)
	for _, path := range []string{
		"SECURITY.md", "CONTRIBUTING.md", "docs/dev/architecture.md", "docs/dev/proof.md", "docs/dev/start-up.md",
	} {
		pages[path] = read(t, path)
	}
	return pages
}

// Words are counted as wc counts them, with examples and tables.
func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	const most, together = 1300, 12000
	own := map[string]int{
		"README.md": 1200, "docs/flags.md": 2300, "docs/stores.md": 1600, "docs/dev/proof.md": 1450,
		"CONTRIBUTING.md": 3600, "docs/dev/architecture.md": 6000,
	}
	sum := 0
	for path, text := range plainPages(t) {
		words := len(strings.Fields(text))
		limit := most
		if own[path] > 0 {
			limit = own[path]
		}
		if words > limit {
			t.Errorf("%s has %d words, more than %d", path, words, limit)
		}
		if strings.HasPrefix(path, "docs/") && !strings.HasPrefix(path, "docs/dev/") {
			sum += words
		}
	}
	if sum > together {
		t.Errorf("the pages for users have %d words together, more than %d", sum, together)
	}
}

func TestSentencesOfPagesArePlain(t *testing.T) {
	t.Parallel()
	const most = 25 // words
	heavy := regexp.MustCompile(`^\W*(Who|Whoever|What is|That)\b`)
	for path, text := range plainPages(t) {
		found := 0
		for _, sentence := range sentences(text) {
			words := strings.Fields(sentence)
			if len(words) > 0 {
				found++
			}
			if len(words) > most {
				t.Errorf("%s, %d words: %s", path, len(words), strings.Join(words, " "))
			}
			if heavy.MatchString(sentence) {
				t.Errorf("%s: begin with the subject: %s", path, strings.Join(words, " "))
			}
		}
		if found < 10 {
			t.Errorf("%s: only %d sentences were found", path, found)
		}
	}
}

// A reader sees an example, or the table that answers the question, before anything is explained.
func TestPagesBeginWithAnExample(t *testing.T) {
	t.Parallel()
	const soon = 10 // lines
	for path, text := range userPages(t) {
		lines := strings.SplitAfterN(text, "\n", soon+1)
		head := strings.Join(lines[:min(soon, len(lines))], "")
		if !strings.Contains(head, "\n```") && !indented.MatchString(head) && !strings.Contains(head, "\n| ") {
			t.Errorf("%s has no example in its first %d lines", path, soon)
		}
	}
}

// A text that stands twice is changed once and wrong in the other place.
func TestNoTextStandsOnTwoPages(t *testing.T) {
	t.Parallel()
	const alike, long = 6, 10 // lines; words of a sentence
	first := map[string]string{}
	check := func(path, text string) {
		if other, found := first[text]; found && other != path {
			t.Errorf("%s and %s both have:\n%s", other, path, text)
		}
		first[text] = path
	}
	for path, text := range plainPages(t) {
		var lines []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
		for i := range max(0, len(lines)-alike+1) {
			check(path, strings.Join(lines[i:i+alike], "\n"))
		}
		for _, sentence := range sentences(text) {
			if words := strings.Fields(sentence); len(words) >= long {
				check(path, strings.Join(words, " "))
			}
		}
	}
}

// program builds redlockrun for a test and returns its path.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redlockrun")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "redlockrun/cmd/redlockrun")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

var (
	aFlag    = regexp.MustCompile(`(?:^|[\s\[/])(--?[a-zA-Z][a-z-]*)`)
	inline   = regexp.MustCompile("`([^`\n]+)`")
	indented = regexp.MustCompile(`(?m)^    .*\S.*$`)
)

// commands returns the lines of redlockrun that a page shows, without the words of the command that it runs.
func commands(text string) (all []string) {
	var code []string
	for _, block := range aFence.FindAllString(text, -1) {
		if !strings.HasPrefix(block, "```yaml") {
			code = append(code, strings.Split(block, "\n")...)
		}
	}
	text = aFence.ReplaceAllString(text, "")
	code = append(code, indented.FindAllString(text, -1)...)
	code = append(code, named(inline, text)...)
	begins := regexp.MustCompile(`\bredlockrun +[a-z-][^|;&#()]*`)
	for _, line := range code {
		line = strings.NewReplacer("[", "", "]", "", "-n redlockrun", "").Replace(line) // a namespace of ssh-keygen
		for _, command := range begins.FindAllString(line, -1) {
			command, _, _ = strings.Cut(command, " -- ")
			command, _, _ = strings.Cut(command, " -c ")
			all = append(all, command)
		}
	}
	return all
}

// flagsOf returns the flags that a help lists.
func flagsOf(t *testing.T, program string, args ...string) []string {
	t.Helper()
	help := output(t, ".", append([]string{program}, args...)...)
	return named(regexp.MustCompile(`(?:^|[\s(])(--?[a-zA-Z][a-z-]*)`), help)
}

// Each command of the pages has flags that the program knows.
func TestCommandsOfPagesHaveRealFlags(t *testing.T) {
	t.Parallel()
	binary := program(t)
	run := flagsOf(t, binary, "--help")
	helps := map[string][]string{}
	for m := range strings.Lines(output(t, ".", binary, "--help")) {
		if word := regexp.MustCompile(`^  ([a-z-]+)  +\S`).FindStringSubmatch(m); word != nil {
			helps[word[1]] = append(flagsOf(t, binary, word[1], "--help"), run...)
			if word[1] != "completion" && word[1] != "copy-self" {
				helps[word[1]] = flagsOf(t, binary, word[1], "--help")
			}
		}
	}
	if len(helps) < 12 {
		t.Fatalf("%d commands", len(helps))
	}
	found := 0
	for path, text := range userPages(t) {
		for _, command := range commands(text) {
			words := strings.Fields(command)
			known, ok := helps[words[1]]
			if !ok {
				known = run
			}
			for _, flag := range named(aFlag, command) {
				found++
				if !slices.Contains(known, flag) {
					t.Errorf("%s: %q: the program has no flag %s", path, command, flag)
				}
			}
			if !ok && !strings.HasPrefix(words[1], "-") {
				t.Errorf("%s: %q: the program has no command %s", path, command, words[1])
			}
		}
	}
	if found < 100 {
		t.Errorf("%d flags were found", found)
	}
}

// elsewhere are flags of other programs that the pages name.
var elsewhere = []string{
	"--init", "--stop-timeout", "--lua", "--default_lua_flags", "--collector", "--timeout",
}

// A flag that a page names alone is one of redlockrun's, too.
func TestFlagsOfPagesAreReal(t *testing.T) {
	t.Parallel()
	binary := program(t)
	known := flagsOf(t, binary, "--help")
	for line := range strings.Lines(output(t, ".", binary, "--help")) {
		if word := regexp.MustCompile(`^  ([a-z-]+)  +\S`).FindStringSubmatch(line); word != nil {
			known = append(known, flagsOf(t, binary, word[1], "--help")...)
		}
	}
	for path, text := range userPages(t) {
		for _, code := range named(inline, aFence.ReplaceAllString(text, "")) {
			if flag := regexp.MustCompile(`^--?[a-z][a-z_-]*`).FindString(code); flag != "" && flag != "-vv" &&
				!slices.Contains(known, flag) && !slices.Contains(elsewhere, flag) {
				t.Errorf("%s names the flag %s, which there is not", path, flag)
			}
		}
	}
}

// The table of doctor's checks has each that the program has.
func TestThePageHasEachCheckOfDoctor(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, "docs/troubleshooting.md"), "<!-- test: doctorchecks -->\n")
	table, _, _ = strings.Cut(table, "\n\n")
	told := named(regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|"), table)
	var checks []string
	for path, text := range sources(t, "..") {
		if strings.HasPrefix(path, "internal/doctor/") && !strings.HasSuffix(path, "_test.go") {
			checks = append(checks, named(regexp.MustCompile(`\b(?:is|about|hidden)\("([a-z-]+)",`), text)...)
		}
	}
	slices.Sort(checks)
	if checks = slices.Compact(checks); !slices.Equal(told, checks) {
		t.Errorf("docs/troubleshooting.md has %q\nthere are %q", told, checks)
	}
}

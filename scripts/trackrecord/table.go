package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"redlockrun/scripts/page"
)

// place is where the record stands in its page.
var place = page.Part{Begin: "<!-- begin: written by scripts/track-record.sh table -->\n", End: "<!-- end -->\n"}

// table is the record as it stands in the page.
func table(faults []fault) string {
	var b strings.Builder
	n := 0
	for _, f := range faults {
		if f.shown() {
			n++
		}
	}
	fmt.Fprintf(&b, "%d faults, of which %d are shown by a command.\n\n", len(faults), n)
	b.WriteString("| part | what went wrong | mended by | held since by |\n| --- | --- | --- | --- |\n")
	for _, part := range parts {
		for _, f := range faults {
			if f.part == part {
				fmt.Fprintf(&b, "| %s | %s | %s, `%s` | %s |\n", f.part, f.text, f.date, f.commit, f.proof())
			}
		}
	}
	return b.String()
}

// proof is the last column of the table.
func (f fault) proof() string {
	switch {
	case f.read != "":
		return "shown by reading: " + f.read
	case f.script != "":
		return "`scripts/trackrecord/" + f.script + "`"
	}
	dir, pattern, _ := strings.Cut(f.today(), " ")
	if script, ok := strings.CutPrefix(pattern, "TestScripts/"); ok {
		return "`testdata/script/" + script + ".txtar`"
	}
	return "`" + dir + "` `" + strings.ReplaceAll(pattern, "|", "`, `") + "`"
}

// check says what of the record is not so. Without git, or without the history, nothing is
// said of commits.
func check(ctx context.Context, faults []fault) error {
	var wrong []string
	text, err := os.ReadFile(proof)
	if err != nil {
		return err
	}
	if there, err := place.In(string(text)); err != nil || there != table(faults) {
		wrong = append(wrong, proof+" has another table than "+recordFile+": run scripts/track-record.sh table")
	}
	for _, f := range faults {
		if missing := f.missing(); missing != "" {
			wrong = append(wrong, fmt.Sprintf("%s (%s): %s is not in the tree", f.commit, f.text, missing))
		}
	}
	wrong = append(wrong, history(ctx, faults)...)
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(slices.Compact(wrong), "\n"))
	}
	return nil
}

// history says which commits are not there, or of another date.
func history(ctx context.Context, faults []fault) (wrong []string) {
	if shallow, err := git(ctx, "", "rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		return nil
	}
	for _, f := range faults {
		date, err := git(ctx, "", "log", "-1", "--format=%cs", f.commit, "--")
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: there is no such commit: %v", f.commit, err))
		} else if day, _ := git(ctx, "", "log", "-1", "--format=%as", f.commit, "--"); date != f.date && day != f.date {
			wrong = append(wrong, fmt.Sprintf("%s is of %s, not of %s", f.commit, day, f.date))
		}
	}
	return wrong
}

// missing is what shows a fault and is not in the tree any more.
func (f fault) missing() string {
	if f.script != "" {
		return absent("scripts/trackrecord/" + f.script)
	}
	dir, pattern, _ := strings.Cut(f.today(), " ")
	for name := range strings.SplitSeq(pattern, "|") {
		name, sub, _ := strings.Cut(name, "/")
		if name == "TestScripts" {
			if file := absent("testdata/script/" + sub + ".txtar"); file != "" {
				return file
			}
		} else if name != "" && !defined(dir, name) {
			return "test " + name + " of " + dir
		}
	}
	return ""
}

func absent(path string) string {
	if _, err := os.Stat(path); err != nil {
		return path
	}
	return ""
}

func defined(dir, test string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	head := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(test) + `\(`)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && head.Match(text)
	})
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/config"
	"redlockrun/internal/flagset"
	"redlockrun/internal/operator"

	"github.com/spf13/cobra"
)

// nap is a command with all that a help can have.
func nap() *operator.Command {
	c := &operator.Command{Command: &cobra.Command{
		Use: "nap", Short: "lets jobs sleep", Long: "redlockrun nap lets jobs sleep.\n\n'It' is an example.",
		Example: "  redlockrun nap a\n  redlockrun nap --all -n 2\n\nor as a script:\n  set -e",
	}}
	c.Calls, c.Status = "  redlockrun nap [flags] NAME    one\n  redlockrun nap --all", "0 done,\n75 refused."
	flagset.Number(c.Flags(), new(int), "number", "n", "at most N \\ of them\nOthers wait")
	flagset.Switch(c.Flags(), new(bool), "json", "", "one object a line")
	return c
}

func TestTheManualOfACommandHasItsTexts(t *testing.T) {
	page := commandManual("2026-03-01", nap(), []*operator.Command{nap()})
	for _, want := range []string{
		".TH REDLOCKRUN\\-NAP 1 2026-03-01\n", "\\fBredlockrun\\fR nap [flags] \\fINAME\\fR\n",
		".SH NAME\nredlockrun\\-nap \\- lets jobs sleep\n",
		".TP\n\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIN\\fR\nAt most N \\e of them.\nOthers wait.\n",
		".EX\nredlockrun nap a\nredlockrun nap \\-\\-all \\-n 2\n.EE\n.RE\n.PP\n" +
			"Or as a script:\n.RS 4\n.EX\nset \\-e\n.EE\n",
		".SH EXIT STATUS\n.TP\n\\fB0\\fR\nDone.\n.TP\n\\fB75\\fR\nRefused.\n", "\n\\&\\(aqIt\\(aq is an example.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %q:\n%s", want, page)
		}
	}
}

// A text of the help that the page cannot take apart would stand in it as a fragment.
func TestEachCommandHasAPageWithItsSections(t *testing.T) {
	all := operator.All()
	pages := manuals("2026-03-01", all)
	if len(pages) != len(all)+1 {
		t.Errorf("there are %d pages for %d commands", len(pages), len(all))
	}
	for _, c := range all {
		page := pages["redlockrun-"+c.Name()+".1"]
		wantSections(t, page, "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO")
		for _, f := range c.OwnFlags() {
			if !strings.Contains(page, "\\fB"+roff("--"+f.Name)+"\\fR") {
				t.Errorf("%s: the page lacks --%s", c.Name(), f.Name)
			}
		}
		if n := len(statusTerms(c.ExitStatus())); n < 2 {
			t.Errorf("%s: %q has %d exit statuses", c.Name(), c.ExitStatus(), n)
		}
		if !strings.Contains(pages["redlockrun.1"], roff("redlockrun-"+c.Name()+"(1)")) {
			t.Errorf("redlockrun(1) does not name the page of %s", c.Name())
		}
	}
}

func TestTheManualHasEachSetting(t *testing.T) {
	page := manual("2026-03-01", []*operator.Command{nap()})
	for _, s := range config.Settings() {
		name := "\\fB" + roff("--"+s.Name) + "\\fR"
		if n := strings.Count(page, ".TP\n"+name) + strings.Count(page, "\\fR, "+name+" ") +
			strings.Count(page, "\\fR, "+name+"\n"); n != 1 {
			t.Errorf("--%s is there %d times", s.Name, n)
		}
		delete(more, s.Name)
	}
	for name := range more {
		t.Errorf("it tells more of %s, which is no setting", name)
	}
}

func TestTheManualHasItsSections(t *testing.T) {
	wantSections(t, manual("2026-03-01", nil), "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS",
		"ENVIRONMENT", "FILES", "NAMES IN JSON", "EXAMPLES", "BUGS", "SEE ALSO")
}

// wantSections fails the test unless a page has the sections, in this order.
func wantSections(t *testing.T, page string, names ...string) {
	t.Helper()
	for _, name := range names {
		_, after, found := strings.Cut(page, ".SH "+name+"\n")
		if !found {
			t.Fatalf("a page lacks %s behind what comes before it", name)
		}
		page = after
	}
}

// A program that is for others reads these names: the manual has each of them, and no others.
func TestTheManualHasTheNamesOfTheProgram(t *testing.T) {
	const object = "internal/report/object.go:"
	for title, types := range map[string][]string{
		"status": {object + "jobObject", object + "pauseObject",
			object + "waiterObject"},
		"history and logs":                       {object + "entryObject", "internal/report/output.go:outputObject"},
		"pause, resume, stop, unlock and forget": {"internal/report/change.go:changeObject"},
		"doctor":                                 {"internal/doctor/doctor.go:Finding"},
		"the file of --report-file":              {"internal/session/report.go:Report"},
	} {
		var coded []string
		for _, where := range types {
			coded = append(coded, tags(t, where)...)
		}
		if title == "status" { // the manual names them as those of an object within
			coded = slices.DeleteFunc(coded,
				func(name string) bool { return slices.Contains([]string{"by", "why", "until", "since"}, name) })
		}
		slices.Sort(coded)
		coded = slices.Compact(coded)
		if told := toldOf(title); !slices.Equal(told, coded) {
			t.Errorf("%s: the manual has\n%q, the program\n%q", title, told, coded)
		}
	}
	if told := toldOf("check"); !slices.Equal(told, []string{"age_seconds", "key", "message", "status"}) {
		t.Errorf("check: %q", told)
	}
}

// toldOf are the names of an object in the manual, sorted.
func toldOf(title string) (names []string) {
	for _, o := range objects {
		if o.title == title {
			for _, n := range o.names {
				names = append(names, strings.Split(n.word, ", ")...)
			}
		}
	}
	slices.Sort(names)
	return names
}

// tags are the names in JSON of a type, FILE:TYPE.
func tags(t *testing.T, where string) (names []string) {
	t.Helper()
	path, name, _ := strings.Cut(where, ":")
	file, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != name {
			return true
		}
		for _, f := range spec.Type.(*ast.StructType).Fields.List {
			if f.Tag != nil {
				text, _ := strconv.Unquote(f.Tag.Value)
				tag, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
				names = append(names, tag)
			}
		}
		return false
	})
	if names == nil {
		t.Fatalf("there is no %s", where)
	}
	return names
}

// Where these programs are, they find nothing wrong with the page. `make e2e` installs them.
func TestTheManualIsGoodRoff(t *testing.T) {
	for name, text := range manuals("2026-03-01", append(operator.All(), nap())) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		wantGoodRoff(t, path)
	}
}

func wantGoodRoff(t *testing.T, path string) {
	t.Helper()
	for _, argv := range [][]string{{"mandoc", "-T", "lint", path},
		{"groff", "-ww", "-man", "-Tutf8", path}, {"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", path}} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "LC_ALL=C.UTF-8", "MANWIDTH=80")
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if argv[0] == "mandoc" {
			said.Write(out)
		}
		if err != nil || said.String() != "" {
			t.Errorf("%q: %v\n%s", argv, err, said.String())
		}
	}
}

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
		Use: "nap", Long: "redlockrun nap lets jobs sleep. 'It' is an example.",
		Example: "  redlockrun nap a\n  redlockrun nap --all -n 2",
	}}
	c.Calls, c.Status = "  redlockrun nap [flags] NAME    one\n  redlockrun nap --all", "0 done,\n75 refused."
	flagset.Number(c.Flags(), new(int), "number", "n", "at most N \\ of them\nat a time")
	flagset.Switch(c.Flags(), new(bool), "json", "", "one object a line")
	return c
}

func TestTheManualHasEachSettingAndCommand(t *testing.T) {
	page := manual("2026-03-01", []*operator.Command{nap()})
	for _, want := range []string{
		".TH REDLOCKRUN 1 2026-03-01\n", ".SS redlockrun nap\n", "\\fBredlockrun\\fR nap [flags] \\fINAME\\fR\n",
		".TP\n\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIN\\fR\nAt most N \\e of them at a time.\n",
		".EX\nredlockrun nap a\nredlockrun nap \\-\\-all \\-n 2\n.EE\n",
		"Exit status: 0 done, 75 refused.\n", "\n\\&\\(aqIt\\(aq is an example.\n",
	} {
		if !strings.Contains(strings.ReplaceAll(page, "Exit status:\n", "Exit status: "), want) {
			t.Errorf("it lacks %q", want)
		}
	}
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
	page := manual("2026-03-01", nil)
	at := 0
	for _, name := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS",
		"ENVIRONMENT", "FILES",
		"NAMES IN JSON", "EXAMPLES", "BUGS", "SEE ALSO"} {
		next := strings.Index(page[at:], ".SH "+name+"\n")
		if next < 0 {
			t.Fatalf("it lacks %s behind what comes before it", name)
		}
		at += next
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
	path := filepath.Join(t.TempDir(), "redlockrun.1")
	if err := os.WriteFile(path, []byte(manual("2026-03-01", []*operator.Command{nap()})), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"mandoc", "-T", "lint", path},
		{"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", path}} {
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

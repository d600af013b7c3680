package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"redlockrun/internal/explain"
	"redlockrun/internal/proof/redistest"
)

// odd are names that a shell would take apart, and those that a terminal would not show as they are.
func odd() []string {
	return []string{
		"job", "it's", `back\slash`, `a"b`, "$HOME `id` $(id)", "a;b&c|d>e", "*?[x]", "two  blanks ", "-f", "--", "~",
		"=ls", "#x", "!!",
		"é日本", "a\u00a0b", "a\u00a01", "\u3000", "it's\u2028\\n'", "\u202ebidi", "\u200b", "\ufffd", `\'`, `'`,
		"a\u00adb'c\\",
	}
}

func TestShellsReadQuotedNamesBack(t *testing.T) {
	t.Parallel()
	for _, name := range append(odd(), "", "a\nb", "\xff\xfe1", "\x1b[31m") {
		word := explain.ShellWord(name)
		if i := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q: %q would not be shown", name, word)
		}
		shells := []string{"bash", "sh"}
		if strings.HasPrefix(word, "$") { // not every sh knows that
			shells = shells[:1]
		}
		for _, shell := range shells {
			out, err := exec.Command(shell, "-c", "printf '%s.' "+word).Output()
			if err != nil || string(out) != name+"." {
				t.Errorf("%q: %s reads %s as %q: %v", name, shell, word, out, err)
			}
		}
	}
}

// The hint of a refused run is pasted into a shell, and does what it says.
func TestHintsCanBePastedIntoAShell(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	path := filepath.Dir(binary(t))
	in := func(shell string, argv ...string) string {
		cmd := exec.Command(shell, argv...)
		cmd.Env = append(cmd.Environ(), "PATH="+path+":"+"/usr/bin:/bin", "REDLOCKRUN_REDIS="+s.URL(),
			"REDLOCKRUN_CONFIG=/dev/null")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	binary := filepath.Join(path, "redlockrun")
	for _, name := range odd() {
		in(binary, "pause", "--", name)
		refused := in(binary, "--key="+name, "--", "true")
		_, hint, _ := strings.Cut(refused, "hint: ")
		command, _, found := strings.Cut(hint, " ends the pause")
		if !found {
			t.Errorf("%q: %s", name, refused)
			continue
		}
		if said := in("bash", "-c", command); in(binary, "--key="+name, "--", "echo", "ran") != "ran\n" {
			t.Errorf("%q: %s: %s", name, command, said)
		}
	}
}

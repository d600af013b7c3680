package config

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestLinesOfTheFileThatShAndSystemdReadAlike(t *testing.T) {
	for line, want := range map[string][2]string{
		"":                         {},
		"  \t":                     {},
		"# a comment":              {},
		"\t # indented":            {},
		"A=b":                      {"A", "b"},
		"  A=b  \t":                {"A", "b"},
		"A=":                       {"A", ""},
		"A=''":                     {"A", ""},
		"A='b c'":                  {"A", "b c"},
		"A='#b\"$x`y;z&\\'":        {"A", "#b\"$x`y;z&\\"},
		"A=b#c":                    {"A", "b#c"},
		"A=#c":                     {"A", "#c"},
		"A=redis://u:p%40@h:1/0?x": {"A", "redis://u:p%40@h:1/0?x"},
		"A=é*[x]{y}!^,+=":          {"A", "é*[x]{y}!^,+="},
	} {
		name, value, err := parseLine(line)
		if err != nil || name != want[0] || value != want[1] {
			t.Errorf("parseLine(%q) = %q, %q, %v", line, name, value, err)
		}
	}
}

func TestLinesThatShAndSystemdReadDifferentlyAreRefused(t *testing.T) {
	for _, line := range []string{
		"export A=b", "A = b", "A= b", "A=b c", "A=b # c", `A="b"`, "A=b'c'", "A='b'c", "A='b''c'", "A='b", `A=b\c`,
		"A=$b", "A=`b`",
		"A=b;c", "A=b&", "A=~/x", "A=b:~", "A=(b)", "A=<b", "; comment", "A", "1A=b", "A-B=c", "=b",
		"A=b\r", "A=\x01", "A=\xff", `# c\`, "A=b\u00a0c", "\ufeffA=b",
	} {
		if name, value, err := parseLine(line); err == nil {
			t.Errorf("parseLine(%q) = %q, %q, want an error", line, name, value)
		}
	}
}

// FuzzFileLine holds what we read against what sh reads.
func FuzzFileLine(f *testing.F) {
	for _, seed := range []string{"A=b", "A='b c'", "A=#x", "# x", "A={a,b}", "A=[!x]", "A=b^c", "A=a:b", "A=%x",
		"A=!x", "A=é"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		name, value, err := parseLine(line)
		if err != nil || name != "A" || strings.Contains(line, "\n") {
			return
		}
		script := dir + "/" + "line.sh"
		if err := os.WriteFile(script, []byte(line+"\nprintf '<%s>' \"$A\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("/bin/sh", script).Output()
		if err != nil || string(out) != "<"+value+">" {
			t.Fatalf("%q: we read %q, sh %q, %v", line, value, out, err)
		}
	})
}

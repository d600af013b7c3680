package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"redlockrun/internal/proof/ability"
	"redlockrun/internal/proof/seeded"
)

// draw puts a fault at each k-th site, one at a time, and says which tests find it. Nobody chooses the faults.
func draw(out io.Writer, n, from int) error {
	all, err := sites()
	if err != nil {
		return err
	}
	found := 0
	drawn := kth(all, n)
	fmt.Fprintf(out, "%d sites, %d drawn\n", len(all), n)
	for i, next := range drawn[from:] {
		began := time.Now()
		s, by, err := try(next)
		if err != nil {
			return err
		}
		word := "found"
		if by == "" {
			word = "SURVIVES"
		} else {
			found++
		}
		fmt.Fprintf(out, "%-9s %2d %s:%d: %s %q -> %q %s (%s)\n", word, from+i, s.file, s.line, s.kind, s.old(), s.with,
			by, time.Since(began).Round(time.Second))
	}
	fmt.Fprintf(out, "%d of %d found\n", found, len(drawn)-from)
	return nil
}

// old is the text that the fault replaces.
func (s site) old() string {
	text, _ := os.ReadFile(s.file)
	return string(text[s.begin:s.end])
}

// try puts a fault at the first of some sites where the program can be built with it, and returns what found it; "" if
// nothing did.
func try(sites []site) (s site, by string, err error) {
	for _, s = range sites {
		dir, err := os.MkdirTemp("", "drawn")
		if err != nil {
			return s, "", err
		}
		defer os.RemoveAll(dir)
		text, err := os.ReadFile(s.file)
		if err != nil {
			return s, "", err
		}
		overlay, err := seeded.Overlay(dir, ".", seeded.Edit{File: s.file, Old: string(text),
			New: string(text[:s.begin]) + s.with + string(text[s.end:])})
		if err != nil {
			return s, "", err
		}
		if exec.Command("go", "build", "-overlay", overlay, "./...").Run() == nil {
			return s, finder(s, overlay), nil
		}
	}
	return s, "", fmt.Errorf("no fault near %s:%d can be built", s.file, s.line)
}

// finder runs the tests, those nearest to the fault first, until one fails that passes without it.
func finder(s site, overlay string) string {
	own := "./" + filepath.ToSlash(filepath.Dir(s.file))
	nearest := []string{own}
	if filepath.Ext(s.file) == ".lua" || strings.HasPrefix(s.file, "internal/lock/step/") {
		nearest = []string{"./internal/lock/line", "./internal/lock/quorum", "./internal/lock/step"}
	}
	for _, stage := range [][]string{
		append([]string{"-short"}, nearest...),
		nearest,
		{"-short", "./cmd/redlockrun"},
		{"./internal/proof/simulation", "-seeds", "600"},
		{"./..."},
	} {
		if test := failing(overlay, stage...); test != "" {
			return "by " + test
		}
	}
	return ""
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// failing returns the name of a test that fails with the fault and passes without it; "" if there is none.
func failing(overlay string, args ...string) string {
	out, err := test(overlay, args...)
	if err == nil {
		return ""
	}
	names := failedTest.FindAllStringSubmatch(out, -1)
	if len(names) == 0 {
		return args[0] + " (a crash or a hang)"
	}
	var packages []string
	for _, arg := range args {
		if strings.HasPrefix(arg, "./") {
			packages = append(packages, arg)
		}
	}
	for _, name := range names {
		if _, err := test("", append(packages, "-run", "^"+name[1]+"$")...); err == nil {
			return name[1]
		}
	}
	return ""
}

// test runs tests with a fault; "": without one.
func test(overlay string, args ...string) (string, error) {
	args = append([]string{"go", "test", "-vet=off", "-count=1", "-timeout", "4m"}, args...)
	args = ability.Apart(args...) // a guard that ignores everything would run for ever
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Env = os.Environ(); overlay != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

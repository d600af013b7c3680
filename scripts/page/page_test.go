package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"redlockrun/scripts/page"
)

var part = page.Part{Begin: "<!-- x -->\n", End: "<!-- end of x -->\n"}

func TestAPartStandsBetweenItsLines(t *testing.T) {
	t.Parallel()
	whole := "a\n" + part.Begin + "old\n" + part.End + "b\n"
	got, err := part.Replaced(whole, "new\n")
	if err != nil || got != "a\n"+part.Begin+"new\n"+part.End+"b\n" {
		t.Errorf("%q, %v", got, err)
	}
	if old, err := part.In(whole); err != nil || old != "old\n" {
		t.Errorf("%q, %v", old, err)
	}
	if _, err := part.Replaced("a\n"+part.Begin, "new\n"); err == nil {
		t.Error("a page without the second line is written")
	}
}

func TestAPartIsWrittenIntoItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	for text, want := range map[string]string{
		"a\n" + part.Begin + "1\n" + part.End: "a\n" + part.Begin + "1\n2\n" + part.End,
		"nothing of the kind\n":               "nothing of the kind\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := part.Write(path, func(old string) string { return old + "2\n" })
		if got, _ := os.ReadFile(path); string(got) != want || (err == nil) != (text != want) {
			t.Errorf("%q has become %q, %v", text, got, err)
		}
	}
}

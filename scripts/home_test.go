package scripts

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mark is a place that scripts/home.sh fills in; in brackets, so that it fills in none here.
var mark = regexp.MustCompile(`[@](HOME|CONTACT)@`)

// aside are directories and files that are in no archive of the sources; the last two
// come and go while another test builds the program.
var aside = []string{".git", ".tools", "bin", "dist", "redlockrun", "redlockrun.new", "redlockrun.placed"}

// sources are the texts of all files of the tree, by path.
func sources(t *testing.T, top string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	tree := os.DirFS(top)
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(aside, path) && entry.IsDir():
			return fs.SkipDir
		case slices.Contains(aside, path) || !entry.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(tree, path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// copyOfTheTree is a directory with all sources.
func copyOfTheTree(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	for path, text := range sources(t, "..") {
		to := filepath.Join(top, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// home runs the copy's scripts/home.sh and returns its exit status.
func home(t *testing.T, top string, args ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(top, "scripts/home.sh"), args...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func TestHomeFillsInEachMarkedPlaceAndNothingElse(t *testing.T) {
	t.Parallel()
	const url, contact = "https://example.org/people/redlockrun", "security@example.org"
	top := copyOfTheTree(t)
	before := sources(t, top)
	if status := home(t, top, url+"/", contact); status != 0 {
		t.Fatalf("status %d", status)
	}
	after := sources(t, top)
	for path, text := range before {
		want := mark.ReplaceAllStringFunc(text, func(found string) string {
			if strings.Contains(found, "HOME") {
				return url
			}
			return contact
		})
		if after[path] != want {
			t.Errorf("%s differs", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files became %d", len(before), len(after))
	}
	for path, text := range map[string]string{"SECURITY.md": contact, "CHANGELOG.md": url,
		".github/ISSUE_TEMPLATE/config.yml": url} {
		if !strings.Contains(after[path], text) {
			t.Errorf("%s does not name %s", path, text)
		}
	}
	if status := home(t, top, url, contact); status != 64 {
		t.Errorf("a second time: status %d", status)
	}
}

func TestHomeRefusesWhatIsNoHome(t *testing.T) {
	t.Parallel()
	top := copyOfTheTree(t)
	before := sources(t, top)
	for _, args := range [][]string{
		{},
		{"https://example.org/redlockrun"},
		{"http://example.org/redlockrun", "security@example.org"},
		{"https://example.org/redlockrun", "nobody"},
		{"https://example.org/red|lockrun", "security@example.org"},
		{"https://example.org/redlockrun", "a & b@example.org"},
	} {
		if status := home(t, top, args...); status != 64 {
			t.Errorf("%q: status %d", args, status)
		}
	}
	if after := sources(t, top); !maps.Equal(before, after) {
		t.Error("a refused home changed a file")
	}
}

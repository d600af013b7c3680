package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A tree is one that scripts/build.sh can build, with the program's own --version and no more.
type tree struct {
	t   *testing.T
	dir string
	env []string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	t.Parallel()
	w := &tree{t, t.TempDir(), append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_COMMITTER_DATE=2026-03-01T13:05:00+01:00")}
	for _, path := range []string{"scripts/build.sh", "scripts/version.sh", "scripts/place.sh",
		"cmd/redlockrun/version.go", ".gitignore"} {
		w.write(path, read(t, path))
	}
	w.write("go.mod", "module redlockrun\n\ngo 1.26.0\n")
	w.write("cmd/redlockrun/main.go", "package main\n\nimport \"os\"\n\nfunc main() { "+
		"os.Stdout.WriteString(version()) }\n")
	return w
}

func (w *tree) write(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		w.t.Fatal(err)
	}
}

// run runs argv in the tree; what it prints is without the last line's end.
func (w *tree) run(argv ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = w.dir, w.env, w.t.Output()
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%q: %v", argv, err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// commit makes the tree a repository of one commit with a tag, and returns that commit.
func (w *tree) commit() string {
	w.t.Helper()
	w.run("git", "init", "-q")
	w.run("git", "add", "-A")
	w.run("git", "commit", "-q", "-m", "one")
	w.run("git", "tag", "v1.2.0")
	return w.run("git", "rev-parse", "HEAD")
}

// wantVersion builds the tree and compares what its --version says of where it comes from.
func (w *tree) wantVersion(want string) {
	w.t.Helper()
	w.run("scripts/build.sh")
	got, isOurs := strings.CutPrefix(w.run("./redlockrun"), "redlockrun ")
	got, _, isGo := strings.Cut(got, " go1.")
	if !isOurs || !isGo || got != want {
		w.t.Errorf("it is %q, want %q", got, want)
	}
}

const anHourAgo = ", 2026-03-01T12:05:00Z"

func TestAProgramFromARepositoryKnowsItsTagAndCommit(t *testing.T) {
	w := newTree(t)
	commit := w.commit()
	w.wantVersion("v1.2.0 (commit " + commit + anHourAgo + ")")
	w.env = append(w.env, "GOFLAGS=-buildvcs=false")
	w.wantVersion("v1.2.0 (commit " + commit + anHourAgo + ")")
	w.write("cmd/redlockrun/more.go", "package main\n")
	w.wantVersion("v1.2.0 (commit " + commit + anHourAgo + ", with changes)")
	if got, want := w.run("scripts/version.sh"), "v1.2.0 "+commit+" 2026-03-01T12:05:00Z dirty"; got != want {
		t.Errorf("version.sh: %q, want %q", got, want)
	}
}

func TestAProgramFromACommitWithoutATagKnowsTheCommit(t *testing.T) {
	w := newTree(t)
	w.commit()
	w.run("git", "commit", "-q", "--allow-empty", "-m", "two")
	commit := w.run("git", "rev-parse", "HEAD")
	origin := w.dir
	for name, clone := range map[string][]string{
		"shallow":  {"git", "clone", "-q", "--depth", "1", "file://" + origin},
		"worktree": {"git", "worktree", "add", "-q", "--detach"},
	} {
		w.dir = origin
		there := filepath.Join(t.TempDir(), name)
		w.run(append(clone, there)...)
		w.dir = there
		w.wantVersion("untagged (commit " + commit + anHourAgo + ")")
	}
}

func TestAProgramFromAnArchiveKnowsWhatItsFileSays(t *testing.T) {
	w := newTree(t)
	commit := w.commit()
	line := w.run("scripts/version.sh")
	if err := os.RemoveAll(filepath.Join(w.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	w.wantVersion("of an unknown version")
	w.write("VERSION", line+"\n")
	w.wantVersion("v1.2.0 (commit " + commit + anHourAgo + ")")
	if got := w.run("scripts/version.sh"); got != line {
		t.Errorf("version.sh: %q, want %q", got, line)
	}
}

// Whose unpacked archive lies in a repository of its own has not built that repository.
func TestARepositoryAroundTheTreeIsNotTakenForOurs(t *testing.T) {
	w := newTree(t)
	around := &tree{t, w.dir, w.env}
	w.dir = filepath.Join(w.dir, "unpacked")
	for _, name := range []string{"scripts", "cmd", "go.mod"} {
		w.write("mark", "")
		if err := os.Rename(filepath.Join(around.dir, name), filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	around.commit()
	w.wantVersion("of an unknown version")
	w.write("VERSION", "v1.3.0 0123456789abcdef 2026-03-01T12:05:00Z dirty\n")
	w.wantVersion("v1.3.0 (commit 0123456789abcdef, 2026-03-01T12:05:00Z, with changes)")
}

func TestWhatGitRefusesIsBuiltAllTheSame(t *testing.T) {
	t.Run("of another user", func(t *testing.T) {
		w := newTree(t)
		w.commit()
		w.env = append(w.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
		if err := exec.Command("env", append(w.env, "git", "-C", w.dir, "status")...).Run(); err == nil {
			t.Fatal("git does not refuse it")
		}
		w.wantVersion("of an unknown version")
	})
	t.Run("a file that leads nowhere", func(t *testing.T) {
		w := newTree(t)
		w.write(".git", "gitdir: /nonexistent\n")
		w.wantVersion("of an unknown version")
	})
	t.Run("an empty directory in another repository", func(t *testing.T) {
		w := newTree(t)
		w.write("unpacked/.git/mark", "")
		w.run("cp", "-r", "scripts", "cmd", "go.mod", "unpacked")
		w.commit()
		w.dir = filepath.Join(w.dir, "unpacked")
		w.wantVersion("of an unknown version")
	})
}

func TestAVersionThatIsNoneIsRefused(t *testing.T) {
	w := newTree(t)
	for _, text := range []string{"", "v1.2.0\n", "v1.2.0 a' -X 'b c\n"} {
		w.write("VERSION", text)
		cmd := exec.CommandContext(t.Context(), "scripts/build.sh")
		cmd.Dir, cmd.Env = w.dir, w.env
		if out, err := cmd.CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "VERSION is not TAG COMMIT DATE") {
			t.Errorf("VERSION %q: %v, %q", text, err, out)
		}
	}
}

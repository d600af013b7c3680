//go:build linux && e2e

package e2e

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// releasing bounds what builds all programs.
const releasing = 20 * time.Minute

// version is that of the release which the tests make: no real one is newer.
const version = "999.0.0"

// A made release is a repository whose last commit is one, with its files in dist/.
type made struct {
	dir  string // of the repository
	dist string
	key  string // that signed it
	err  error
}

// release makes one of the tree as it is, with a key of its own, once for all tests. That the tests
// pass is not asked again: its .ci/run does nothing.
var release = sync.OnceValue(func() made {
	dir := filepath.Join(bin, "release")
	m := made{dir: dir, dist: filepath.Join(dir, "dist"), key: filepath.Join(bin, "key")}
	m.err = m.make()
	return m
})

func (m made) make() error {
	if err := m.repository(); err != nil {
		return err
	}
	_, err := in(m.dir, "scripts/release.sh", "--key", m.key, version)
	return err
}

// repository is one with this one's history, if there is any, and a commit of the tree as it is.
func (m made) repository() error {
	if _, err := os.Stat("../../../.git"); err == nil {
		if _, err := in("../../..", "git", "clone", "-q", "--no-checkout", ".", m.dir); err != nil {
			return err
		}
	} else if _, err := in(".", "git", "init", "-q", m.dir); err != nil {
		return err
	}
	if err := copyTree("../../..", m.dir); err != nil {
		return err
	}
	if _, err := in(bin, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", m.key); err != nil {
		return err
	}
	public, err := os.ReadFile(m.key + ".pub")
	if err != nil {
		return err
	}
	for path, text := range map[string]string{
		".ci/run":         "#!/bin/sh\n",
		"ALLOWED_SIGNERS": "a@example.com namespaces=\"redlockrun,git\" " + string(public),
	} {
		if err := os.WriteFile(filepath.Join(m.dir, path), []byte(text), 0o755); err != nil {
			return err
		}
	}
	for _, argv := range [][]string{
		{"sh", "-c", "! git rev-parse -q --verify HEAD || git update-ref refs/heads/tested HEAD; git symbolic-ref " +
			"HEAD refs/heads/tested"},
		{"git", "add", "-A"},
		{"git", "config", "user.name", "a"}, {"git", "config", "user.email", "a@example.com"},
		{"git", "commit", "-q", "--allow-empty", "-m", "The tree that is tested"},
	} {
		if _, err := in(m.dir, argv...); err != nil {
			return err
		}
	}
	return nil
}

// notOfTheTree is what a build or a test leaves there.
var notOfTheTree = []string{".git", ".tools", "bin", "dist", "redlockrun", "redlockrun.new", "redlockrun.placed"}

func copyTree(from, to string) error {
	return fs.WalkDir(os.DirFS(from), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(notOfTheTree, path) && entry.IsDir():
			return fs.SkipDir
		case slices.Contains(notOfTheTree, path):
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, path), 0o755)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(from, path))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), text, info.Mode().Perm())
	})
}

// A failure is a command that went wrong, with all that it said.
type failure struct {
	argv []string
	err  error
	said string
}

func (f failure) Error() string {
	return strings.Join(f.argv, " ") + ": " + f.err.Error() + "\n" + f.said
}

// in runs argv in a directory and returns what it prints.
func in(dir string, argv ...string) (string, error) { return inWith(dir, nil, argv...) }

// inWith does so with further variables.
func inWith(dir string, env []string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), releasing)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null"), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), failure{argv, err, out.String() + said.String()}
	}
	return out.String(), nil
}

// must is what argv prints, run in a directory.
func must(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	out, err := in(dir, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// released is the release that is tested.
func released(t *testing.T) made {
	t.Helper()
	m := release()
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m
}

// recipe is the example NAME of README.md or docs/getting-started.md with the tested release's names, as root's own.
func recipe(t *testing.T, name string) string {
	t.Helper()
	return strings.NewReplacer("X.Y.Z", version, "sudo ", "", "ADDRESS", "a@example.com").Replace(block(t, name))
}

// A stranger who has the commit makes the same bytes: elsewhere, later, with other settings.
func TestAReleaseIsMadeTheSameByAStranger(t *testing.T) {
	m := released(t)
	stranger := t.TempDir()
	must(t, ".", "git", "clone", "-q", m.dir, stranger)
	if err := os.CopyFS(filepath.Join(stranger, "dist"), os.DirFS(m.dist)); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "another place")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := []string{"TMPDIR=" + elsewhere, "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "GOFLAGS=-buildvcs=true",
		"GOAMD64=v2",
		"GOOS=darwin", "SOURCE_DATE_EPOCH=1", "USER=somebody"}
	said, err := inWith(stranger, settings, "sh", "-c", "umask 077; "+recipe(t, "verify"))
	if err != nil || !strings.Contains(said, "the same: ") ||
		!strings.Contains(said, "Good \"redlockrun\" signature for a@example.com") {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestAReleasesSumsAreCheckedAsThePageSays(t *testing.T) {
	m := released(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(m.dist)); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "cp", filepath.Join(m.dir, "ALLOWED_SIGNERS"), ".")
	said := must(t, dir, "sh", "-ec", recipe(t, "sums"))
	for _, want := range []string{"redlockrun-" + version + "-linux-amd64.tar.gz: OK",
		"Good \"redlockrun\" signature"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

func TestAReleaseHasAFileForEachWayAndProcessor(t *testing.T) {
	m := released(t)
	entries, err := os.ReadDir(m.dist)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.ReplaceAll(entry.Name(), version, "V"))
	}
	want := []string{
		"NOTES.md", "SHA256SUMS", "SHA256SUMS.sig",
		"redlockrun-V-1.aarch64.rpm", "redlockrun-V-1.armv7hl.rpm", "redlockrun-V-1.i386.rpm",
		"redlockrun-V-1.x86_64.rpm",
		"redlockrun-V-linux-386.tar.gz", "redlockrun-V-linux-amd64.tar.gz", "redlockrun-V-linux-arm64.tar.gz",
		"redlockrun-V-linux-armv7.tar.gz", "redlockrun-V-source.tar.gz", "redlockrun-V.spdx.json",
		"redlockrun_V-1_amd64.deb", "redlockrun_V-1_arm64.deb", "redlockrun_V-1_armhf.deb", "redlockrun_V-1_i386.deb",
		"redlockrun_V-r1_aarch64.apk", "redlockrun_V-r1_armv7.apk", "redlockrun_V-r1_x86.apk",
		"redlockrun_V-r1_x86_64.apk",
	}
	if !slices.Equal(names, want) {
		t.Errorf("it has\n%q, want\n%q", names, want)
	}
}

// The sources alone make the program of the archive, byte for byte, and it knows what it is.
func TestTheSourcesOfAReleaseMakeItsProgram(t *testing.T) {
	m := released(t)
	dir := t.TempDir()
	must(t, dir, "cp", filepath.Join(m.dist, "redlockrun-"+version+"-source.tar.gz"), ".")
	commands := strings.ReplaceAll(recipe(t, "source"), "make install ", "make install DESTDIR=\"$PWD/root\" ")
	must(t, dir, "sh", "-ec", commands)
	program := filepath.Join(dir, "redlockrun-"+version+"-source/root/usr/local/bin/redlockrun")
	commit := strings.TrimSpace(must(t, m.dir, "git", "rev-parse", "HEAD"))
	if said := says(t, program, "--version"); !strings.HasPrefix(said, "redlockrun v"+version+" (commit "+commit+", ") {
		t.Errorf("it says %q", said)
	}
	archive := unpacked(t, m, runtime.GOARCH)
	ours, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(archive, "bin/redlockrun"))
	if err != nil || !bytes.Equal(ours, theirs) {
		t.Errorf("it is not the archive's: %v", err)
	}
}

// unpacked is the archive for a processor, unpacked as the page says into a directory that is /usr/local.
func unpacked(t *testing.T, m made, arch string) (root string) {
	t.Helper()
	root = t.TempDir()
	commands := strings.NewReplacer("/usr/local", root, "linux-amd64", "linux-"+arch).Replace(recipe(t, "archive"))
	must(t, m.dist, "sh", "-ec", commands)
	return root
}

func TestVulnerabilitiesAreAskedForWhereTheyCanBe(t *testing.T) {
	db := t.TempDir()
	for path, text := range map[string]string{
		"index/db.json": `{"modified":"2026-01-01T00:00:00Z"}`,
		"index/modules.json": `[{"path":"github.com/spf13/cobra",` +
			`"vulns":[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]}]`,
		"index/vulns.json": `[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]`,
		"ID/GO-2026-0001.json": `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z",
			"published":"2026-01-01T00:00:00Z","summary":"made up","details":"made up","affected":[{
			"package":{"name":"github.com/spf13/cobra","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"github.com/spf13/cobra","symbols":["Command.Flags"]}]}}]}`,
	} {
		path = filepath.Join(db, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const script = "scripts/vulnerable.sh"
	if said, err := inWith("../../..", []string{"GOVULNDB=file://" + db}, script); err == nil ||
		!strings.Contains(err.Error(), "GO-2026-0001") {
		t.Errorf("one that is called is not found: %v\n%s", err, said)
	}
	if _, err := inWith("../../..", []string{"GOVULNDB=http://127.0.0.1:1"}, script); err != nil {
		t.Errorf("without the database it fails: %v", err)
	}
}

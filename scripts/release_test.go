package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the stand-in of scripts/dist.sh makes: two files of the commit's own, and their sums.
const madeOfACommit = `#!/bin/sh
set -eu
cd "$(dirname "$0")/.."
scripts/version.sh git >/dev/null
mkdir -p "$1"
cp program "$1/redlockrun-program"
scripts/version.sh git >"$1/redlockrun-version.spdx.json"
cd "$1"
sha256sum redlockrun-* >SHA256SUMS
`

// aReleasedTree is a repository of one commit from which releases are made in no time, and a key that may sign
// them.
func aReleasedTree(t *testing.T) (w *tree, key string) {
	t.Helper()
	w = newTree(t)
	key = filepath.Join(t.TempDir(), "key")
	w.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"scripts/release.sh", "scripts/verify-release.sh", "scripts/notes.sh"} {
		w.write(path, read(t, path))
	}
	w.write("scripts/dist.sh", madeOfACommit)
	w.write("program", "of the first commit\n")
	w.write(".ci/run", "#!/bin/sh\nexit 0\n")
	w.write("ALLOWED_SIGNERS", "# nobody\na@example.com namespaces=\"redlockrun,git\" "+string(public))
	w.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\nThe first.\n\n### Added\n\n- A flag.\n\n[Unreleased]: "+
		"@HOME@/commits/main\n")
	w.run("git", "init", "-q", "-b", "main")
	w.run("git", "add", "-A")
	w.run("git", "commit", "-q", "-m", "one")
	return w, key
}

// attempt runs argv in the tree and returns its status and all that it said.
func (w *tree) attempt(argv ...string) (status int, said string) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// wantRefused runs argv, which must end so, say that, and leave the repository as it was.
func (w *tree) wantRefused(status int, why string, argv ...string) {
	w.t.Helper()
	state := func() string { return w.run("git", "for-each-ref") + w.run("git", "status", "--porcelain") }
	before := state()
	if got, said := w.attempt(argv...); got != status || !strings.Contains(said, why) {
		w.t.Errorf("%q: status %d, want %d, and %q in\n%s", argv, got, status, why, said)
	}
	if after := state(); after != before {
		w.t.Errorf("%q changed\n%s\nto\n%s", argv, before, after)
	}
}

func TestAReleaseIsATagAChangelogsSectionAndSignedFiles(t *testing.T) {
	w, key := aReleasedTree(t)
	w.run("scripts/release.sh", "--key", key, "0.9.0")
	text, err := os.ReadFile(filepath.Join(w.dir, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	dated := regexp.MustCompile(` - 20\d\d-\d\d-\d\d\n`).ReplaceAllString(string(text), " - DAY\n")
	want := "# Changelog\n\n## [Unreleased]\n\n## [0.9.0] - DAY\n\nThe first.\n\n### Added\n\n- A flag.\n\n" +
		"[Unreleased]: @HOME@/commits/main\n[0.9.0]: @HOME@/commits/v0.9.0\n"
	if dated != want {
		t.Errorf("the changelog is\n%s\nwant\n%s", dated, want)
	}
	const notes = "The first.\n\n### Added\n\n- A flag.\n"
	if got, err := os.ReadFile(filepath.Join(w.dir, "dist/NOTES.md")); err != nil || string(got) != notes {
		t.Errorf("notes: %v\n%s", err, got)
	}
	if got := w.run("git", "log", "-1", "--format=%s %D"); got != "Release 0.9.0 HEAD -> main, tag: v0.9.0" {
		t.Errorf("the commit is %q", got)
	}
	if got := w.run("git", "tag", "-l", "--format=%(contents:subject)\n\n%(contents:body)",
		"v0.9.0"); got != "redlockrun 0.9.0\n\n"+notes {
		t.Errorf("the tag says %q", got)
	}
	w.run("git", "-c", "gpg.ssh.allowedSignersFile=ALLOWED_SIGNERS", "verify-tag", "v0.9.0")
	if status, said := w.attempt("scripts/verify-release.sh", "v0.9.0"); status != 0 ||
		!strings.Contains(said, "the same: 2 files") ||
		!strings.Contains(said, `Good "redlockrun" signature for a@example.com`) {
		t.Errorf("verified: status %d\n%s", status, said)
	}
	w.wantRefused(65, "CHANGELOG.md says nothing of Unreleased", "scripts/release.sh", "0.9.1")
}

func TestAReleaseIsRefusedBeforeAnythingChanges(t *testing.T) {
	w, key := aReleasedTree(t)
	for _, args := range [][]string{
		{}, {"1"}, {"v1.0.0"}, {"1.0.0-rc1"}, {"01.0.0"}, {"1.0.0", "1.0.1"}, {"--sign", "1.0.0"},
		{"--key", "none", "1.0.0"},
	} {
		w.wantRefused(64, "release.sh: ", append([]string{"scripts/release.sh"}, args...)...)
	}
	w.run("git", "tag", "v1.2.0")
	w.wantRefused(65, "v1.2.0 is there already", "scripts/release.sh", "1.2.0")
	w.wantRefused(65, "1.1.9 is older than v1.2.0", "scripts/release.sh", "1.1.9")
	w.write("program", "changed\n")
	w.wantRefused(65, "there are changes", "scripts/release.sh", "1.10.0")
	w.run("git", "checkout", "-q", "program")
	stranger := filepath.Join(t.TempDir(), "key")
	w.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stranger)
	w.wantRefused(65, "ALLOWED_SIGNERS does not name", "scripts/release.sh", "--key", stranger, "1.10.0")
	w.write(".ci/run", "#!/bin/sh\necho 'a test fails'\nexit 1\n")
	w.run("git", "commit", "-qam", "red")
	w.wantRefused(1, "a test fails", "scripts/release.sh", "--key", key, "1.10.0")
	if _, err := os.Stat(filepath.Join(w.dir, "dist")); err == nil {
		t.Error("files were made of what is not released")
	}
}

func TestADryRunMakesTheFilesAlone(t *testing.T) {
	w, key := aReleasedTree(t)
	w.wantRefused(0, "v0.9.0 is in dist/ as it would be", "scripts/release.sh", "--dry-run", "--key", key, "0.9.0")
	for _, name := range []string{"SHA256SUMS", "SHA256SUMS.sig", "NOTES.md", "redlockrun-program"} {
		if _, err := os.Stat(filepath.Join(w.dir, "dist", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsNoReleaseOfACommitIsFoundOut(t *testing.T) {
	w, key := aReleasedTree(t)
	w.run("scripts/release.sh", "--key", key, "0.9.0")
	verify := []string{"scripts/verify-release.sh", "v0.9.0", "dist"}
	sums := func() { w.run("sh", "-c", "cd dist && sha256sum redlockrun-* >SHA256SUMS") }

	w.wantRefused(64, "is no commit", "scripts/verify-release.sh", "v0.9.1")
	w.wantRefused(64, "has no SHA256SUMS", "scripts/verify-release.sh", "v0.9.0", "scripts")
	w.write("dist/redlockrun-program", "another\n")
	w.wantRefused(1, "is not the one that SHA256SUMS means", verify...)
	sums()
	w.wantRefused(1, "is not what ", verify...)
	w.run("cp", "program", "dist/redlockrun-program")
	sums()
	w.wantRefused(0, "the same: 2 files", verify...)

	// Signed by a stranger, for another purpose, and not at all.
	stranger := filepath.Join(t.TempDir(), "key")
	w.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stranger)
	sign := func(key, purpose string) {
		w.run("rm", "-f", "dist/SHA256SUMS.sig")
		w.run("ssh-keygen", "-q", "-Y", "sign", "-n", purpose, "-f", key, "dist/SHA256SUMS")
	}
	sign(stranger, "redlockrun")
	w.wantRefused(1, "by nobody whom ALLOWED_SIGNERS names", verify...)
	sign(key, "file")
	w.wantRefused(1, "by nobody whom ALLOWED_SIGNERS names", verify...)
	w.run("rm", "dist/SHA256SUMS.sig")
	w.wantRefused(1, "SHA256SUMS.sig is missing", verify...)
	w.wantRefused(0, "not signed: ", "scripts/verify-release.sh", w.run("git", "rev-parse", "HEAD"))
}

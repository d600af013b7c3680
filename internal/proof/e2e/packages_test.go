//go:build linux && e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"redlockrun/internal/proof/redistest"
)

// A root is a directory with a clean Debian, to install into.
type root struct {
	t   *testing.T
	dir string
}

// debianRoot lays one out. It needs root, and this machine's own processor.
func debianRoot(t *testing.T) root {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can install into a root directory of its own")
	}
	r := root{t, t.TempDir()}
	if err := os.Chmod(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, "../../..", "scripts/debian-root.sh", r.dir)
	return r
}

// run runs a line of shell inside.
func (r root) run(line string) string {
	r.t.Helper()
	const set = "export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C; "
	return must(r.t, "/", "chroot", r.dir, "sh", "-ec", set+line)
}

func (r root) path(path string) string { return filepath.Join(r.dir, path) }

func (r root) write(path, text string, mode fs.FileMode) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(path)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(path), []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

// bring puts a file of a release where the example's names find it, in the root's first directory.
func (r root) bring(files ...string) {
	r.t.Helper()
	for _, file := range files {
		must(r.t, "/", "cp", file, r.dir)
	}
}

// has reports whether there is a file, a link or a directory.
func (r root) has(path string) bool {
	_, err := os.Lstat(r.path(path))
	return err == nil
}

// files are all paths inside but those that the package managers keep for themselves.
func (r root) files() map[string]bool {
	r.t.Helper()
	found := map[string]bool{}
	own := regexp.MustCompile(`^(var/(lib/(dpkg|rpm)|log|cache)|root/\.rpmdb|proc|[^/]*\.(deb|rpm)$)`)
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && !own.MatchString(path) {
			found[path] = true
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// added are the files that are in after and not in before, without directories.
func (r root) added(before, after map[string]bool) (paths []string) {
	for path := range after {
		if info, err := os.Lstat(r.path(path)); !before[path] && err == nil && !info.IsDir() {
			paths = append(paths, "/"+path)
		}
	}
	slices.Sort(paths)
	return paths
}

// debOf is the package of Debian for this machine's processor in a directory of a release.
func debOf(t *testing.T, dist string) string {
	t.Helper()
	arch := strings.TrimSpace(must(t, "/", "dpkg", "--print-architecture"))
	found, err := filepath.Glob(filepath.Join(dist, "redlockrun_*_"+arch+".deb"))
	if err != nil || len(found) != 1 {
		t.Fatalf("packages for %s in %s: %q %v", arch, dist, found, err)
	}
	return found[0]
}

// before is the dist/ of what users may have before this release, made by its own scripts, once.
var before = sync.OnceValues(func() (dist string, err error) {
	m := release()
	if m.err != nil {
		return "", m.err
	}
	commit, err := in(m.dir, "sh", "-ec", "git checkout -q HEAD^ && scripts/before.sh; git checkout -q tested")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(bin, "before")
	if _, err := in(m.dir, "git", "worktree", "add", "-q", "--detach", dir, strings.TrimSpace(commit)); err != nil {
		return "", errNoHistory
	}
	_, err = in(dir, "make", "dist")
	return filepath.Join(dir, "dist"), err
})

var errNoHistory = errors.New("the commit that scripts/before.sh names is not in this repository")

func beforeRelease(t *testing.T) (dist string) {
	t.Helper()
	dist, err := before()
	if errors.Is(err, errNoHistory) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dist
}

// inPackages is what a package has, beside what is in it for its kind of system alone.
var inPackages = []string{
	"/etc/default/redlockrun",
	"/usr/bin/redlockrun",
	"/usr/lib/systemd/system/redlockrun-check@.service", "/usr/lib/systemd/system/redlockrun-check@.timer",
	"/usr/lib/systemd/system/redlockrun-metrics.service", "/usr/lib/systemd/system/redlockrun-metrics.timer",
	"/usr/share/bash-completion/completions/redlockrun",
	"/usr/share/doc/redlockrun/changelog.gz", "/usr/share/doc/redlockrun/copyright",
	"/usr/share/doc/redlockrun/examples/alerts.yml", "/usr/share/doc/redlockrun/examples/dashboard.json",
	"/usr/share/fish/vendor_completions.d/redlockrun.fish",
	"/usr/share/man/man1/redlockrun-check.1.gz", "/usr/share/man/man1/redlockrun-completion.1.gz",
	"/usr/share/man/man1/redlockrun-copy-self.1.gz", "/usr/share/man/man1/redlockrun-doctor.1.gz",
	"/usr/share/man/man1/redlockrun-forget.1.gz", "/usr/share/man/man1/redlockrun-history.1.gz",
	"/usr/share/man/man1/redlockrun-logs.1.gz", "/usr/share/man/man1/redlockrun-metrics.1.gz",
	"/usr/share/man/man1/redlockrun-pause.1.gz", "/usr/share/man/man1/redlockrun-report.1.gz",
	"/usr/share/man/man1/redlockrun-resume.1.gz", "/usr/share/man/man1/redlockrun-status.1.gz",
	"/usr/share/man/man1/redlockrun-stop.1.gz", "/usr/share/man/man1/redlockrun-unlock.1.gz",
	"/usr/share/man/man1/redlockrun.1.gz",
}

var (
	inDeb = alphabetic(inPackages, "/usr/share/doc/redlockrun/changelog.Debian.gz",
		"/usr/share/zsh/vendor-completions/_redlockrun")
	inRPM = alphabetic(inPackages, "/usr/share/zsh/site-functions/_redlockrun")
)

func alphabetic(paths []string, more ...string) []string {
	return slices.Sorted(slices.Values(append(slices.Clone(paths), more...)))
}

func TestDebiansPackageIsInstalledUpgradedAndPurged(t *testing.T) {
	m := released(t)
	old, deb := debOf(t, beforeRelease(t)), debOf(t, m.dist)
	r := debianRoot(t)
	clean := r.files()
	r.bring(old, deb)
	r.run("dpkg -i /" + filepath.Base(old))
	if said := r.run("redlockrun --version"); strings.Contains(said, version) {
		t.Errorf("the one before is %q", said)
	}

	// What was written into the configuration stays.
	const edited = "# ours\nREDLOCKRUN_REDIS=redis://127.0.0.1:1\n"
	r.write("etc/default/redlockrun", edited, 0o644)
	r.run("cd / && " + strings.ReplaceAll(recipe(t, "deb"), "redlockrun_"+version+"-1_amd64.deb", filepath.Base(deb)))
	if said := r.run("redlockrun --version"); !strings.HasPrefix(said, "redlockrun v"+version+" ") {
		t.Errorf("after the upgrade it is %q", said)
	}
	if text, err := os.ReadFile(r.path("etc/default/redlockrun")); err != nil || string(text) != edited {
		t.Errorf("the configuration: %v, %q", err, text)
	}
	if got := r.added(clean, r.files()); !slices.Equal(got, inDeb) {
		t.Errorf("it has\n%q, want\n%q", got, inDeb)
	}
	if said := r.run("dpkg --verify redlockrun"); strings.TrimSpace(said) != "??5?????? c /etc/default/redlockrun" {
		t.Errorf("dpkg finds %q", said)
	}
	r.run("dpkg --remove redlockrun")
	if got := r.added(clean, r.files()); !slices.Equal(got, []string{"/etc/default/redlockrun"}) {
		t.Errorf("removed, it leaves %q", got)
	}
	r.run("dpkg --purge redlockrun")
	if after := r.files(); !maps.Equal(clean, after) {
		t.Errorf("purged, it leaves %q", r.added(clean, after))
	}
}

// Whoever has the package has a program that does what it should, for each user.
func TestWhatDebiansPackageInstallsRuns(t *testing.T) {
	m := released(t)
	r := debianRoot(t)
	r.bring(debOf(t, m.dist))
	r.run("dpkg -i /redlockrun_*.deb")
	info, err := os.Stat(r.path("etc/default/redlockrun"))
	if err != nil || info.Mode() != 0o644 {
		t.Errorf("the configuration: %v, %v", info, err)
	}
	s := newSite(t)
	must(t, "/", "mount", "-t", "proc", "proc", r.path("proc"))
	t.Cleanup(func() { must(t, "/", "umount", r.path("proc")) })
	said := r.run("setpriv --reuid=nobody --clear-groups env REDLOCKRUN_REDIS=" + s.server.URL() +
		" redlockrun --key x -- echo ran")
	if said != "ran\n" {
		t.Errorf("for nobody it says %q", said)
	}
	s.demonstrate(r.path("usr/bin/redlockrun"))
	if page := must(t, "/", "man", "-l", r.path("usr/share/man/man1/redlockrun.1.gz")); !strings.Contains(page,
		"redlockrun doctor") {
		t.Errorf("the manual:\n%s", page)
	}
}

// A stand-in of systemctl writes down what it is told: there is no systemd in such a root.
func TestTheUnitsOfAPackageGoWithIt(t *testing.T) {
	m := released(t)
	r := debianRoot(t)
	r.bring(debOf(t, m.dist))
	r.write("run/systemd/system/mark", "", 0o644)
	r.write("usr/bin/systemctl", "#!/bin/sh\necho \"$@\" >>/told\n", 0o755)
	told := func() []string {
		text, _ := os.ReadFile(r.path("told"))
		_ = os.Remove(r.path("told"))
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	wantTold := func(when string, want ...string) {
		t.Helper()
		if got := told(); !slices.Equal(got, want) {
			t.Errorf("%s systemd is told %q, want %q", when, got, want)
		}
	}
	r.run("dpkg -i /redlockrun_*.deb")
	wantTold("installed,", "daemon-reload")
	wants := r.path("etc/systemd/system/timers.target.wants")
	must(t, "/", "mkdir", "-p", wants)
	for _, name := range []string{"redlockrun-metrics", "redlockrun-check@a", "redlockrun-check@b", "other"} {
		must(t, "/", "ln", "-s", "/nowhere", filepath.Join(wants, name+".timer"))
	}
	r.run("dpkg -i /redlockrun_*.deb")
	wantTold("upgraded,", "daemon-reload", "daemon-reload")
	r.run("dpkg --remove redlockrun")
	wantTold("removed,", "disable --now redlockrun-metrics.timer", "disable --now redlockrun-check@a.timer",
		"disable --now redlockrun-check@b.timer", "daemon-reload")
}

// What is left out is so on purpose: there is no maintainer yet, the program is static as ever, and
// one text with all licences goes with each kind of package.
func TestDebiansCheckerFindsNothing(t *testing.T) {
	m := released(t)
	suppressed := "bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact,initial-upload-closes-no-bugs," +
		"copyright-file-contains-full-apache-2-license,copyright-not-using-common-license-for-apache2," +
		"statically-linked-binary"
	argv := []string{"lintian", "--fail-on", "error,warning", "--suppress-tags", suppressed, debOf(t, m.dist)}
	if os.Getuid() == 0 {
		argv = slices.Insert(argv, 1, "--allow-root")
	}
	must(t, "/", argv...)
}

func TestTheRPMIsInstalledVerifiedAndErased(t *testing.T) {
	m := released(t)
	r := debianRoot(t)
	clean := r.files()
	arch, ok := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if !ok {
		t.Skip("which package of rpm is this machine's?")
	}
	command := strings.ReplaceAll(recipe(t, "rpm"), "x86_64", arch)
	must(t, m.dist, "rpm", "-K", "--nosignature", "redlockrun-"+version+"-1."+arch+".rpm")
	must(t, m.dist, "sh", "-ec", strings.Replace(command, "rpm ", "rpm --root "+r.dir+" --nodeps ", 1))
	if got := r.added(clean, r.files()); !slices.Equal(got, inRPM) {
		t.Errorf("it has\n%q, want\n%q", got, inRPM)
	}
	if said := must(t, "/", "rpm", "--root", r.dir, "-V", "--nodeps", "redlockrun"); said != "" {
		t.Errorf("rpm finds\n%s", said)
	}
	if said := must(t, "/", "rpm", "--root", r.dir, "-qc", "redlockrun"); said != "/etc/default/redlockrun\n" {
		t.Errorf("its configuration is %q", said)
	}
	if said := r.run("redlockrun --version"); !strings.HasPrefix(said, "redlockrun v"+version+" ") {
		t.Errorf("it is %q", said)
	}
	s := newSite(t)
	s.demonstrate(r.path("usr/bin/redlockrun"))
	must(t, "/", "rpm", "--root", r.dir, "-e", "--nodeps", "redlockrun")
	if got := r.added(clean, r.files()); got != nil {
		t.Errorf("erased, it leaves %q", got)
	}
}

// contents are the modes and sums of the files in an archive.
func contents(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	found := map[string]string{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found["/"+strings.TrimPrefix(header.Name, "./")] = fmt.Sprintf("%o %d %x", header.Mode, header.Uid+header.Gid,
			sha256.Sum256(text))
	}
}

// apkParts are the two archives that a package without a signature consists of: what it says of itself, and its
// files, as they are compressed.
func apkParts(t *testing.T, path string) (control, data []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rest := bytes.NewReader(text)
	z, err := gzip.NewReader(rest)
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	if _, err := io.Copy(io.Discard, z); err != nil {
		t.Fatal(err)
	}
	at := len(text) - rest.Len()
	return text[:at], text[at:]
}

func gunzipped(t *testing.T, text []byte) io.Reader {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// There is no apk here to install it: it is held to have the files of Debian's package, and to say so.
func TestTheAPKHasTheFilesOfDebiansPackage(t *testing.T) {
	m := released(t)
	for deb, apk := range map[string]string{"amd64": "x86_64", "arm64": "aarch64", "i386": "x86", "armhf": "armv7"} {
		name := strings.ReplaceAll(strings.Fields(recipe(t, "apk"))[3], "x86_64", apk)
		control, data := apkParts(t, filepath.Join(m.dist, name))
		info, err := io.ReadAll(gunzipped(t, control))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			"pkgname = redlockrun", "pkgver = " + version + "-r1", "arch = " + apk, "license = MIT",
			fmt.Sprintf("datahash = %x", sha256.Sum256(data)),
		} {
			if !bytes.Contains(info, []byte("\n"+line+"\n")) && !bytes.Contains(info, []byte("\x00"+line+"\n")) {
				t.Errorf("%s does not say %q", name, line)
			}
		}
		fromDeb, err := in(m.dist, "dpkg-deb", "--fsys-tarfile", "redlockrun_"+version+"-1_"+deb+".deb")
		if err != nil {
			t.Fatal(err)
		}
		want := contents(t, strings.NewReader(fromDeb))
		delete(want, "/usr/share/doc/redlockrun/changelog.Debian.gz")
		want["/usr/share/zsh/site-functions/_redlockrun"] = want["/usr/share/zsh/vendor-completions/_redlockrun"]
		delete(want, "/usr/share/zsh/vendor-completions/_redlockrun")
		if got := contents(t, gunzipped(t, data)); !maps.Equal(got, want) || len(got) != len(inRPM) {
			t.Errorf("%s has\n%q, want\n%q", name, got, want)
		}
	}
}

// onPages leaves the place of the program to systemd.
var onPages = strings.NewReplacer("/usr/local/bin/redlockrun ", "redlockrun ")

// The units of a package and of an archive are as the page on monitoring has them, but for names and places.
func TestTheUnitsAreThoseOfThePages(t *testing.T) {
	archive := unpacked(t, released(t), "amd64")
	said := func(path string) map[string]map[string]string {
		text, err := os.ReadFile(filepath.Join(archive, "lib/systemd/system", path))
		if err != nil {
			t.Fatal(err)
		}
		return unit(t, string(text))
	}
	service := said("redlockrun-metrics.service")["Service"]
	file, _ := strings.CutPrefix(service["Environment"], "TEXTFILE=")
	if got, want := onPages.Replace(strings.ReplaceAll(service["ExecStart"], "${TEXTFILE}", file)),
		unit(t, block(t, "metricsservice"))["Service"]["ExecStart"]; got != want {
		t.Errorf("%q, on the page %q", got, want)
	}
	service = said("redlockrun-check@.service")["Service"]
	age, _ := strings.CutPrefix(service["Environment"], "MAX_AGE=")
	if got, want := onPages.Replace(strings.NewReplacer("${MAX_AGE}", age, "-- %i",
		"nightly-report").Replace(service["ExecStart"])),
		unit(t, block(t, "deadmanservice"))["Service"]["ExecStart"]; got != want {
		t.Errorf("%q, on the page %q", got, want)
	}
	for timer, example := range map[string]string{"redlockrun-metrics.timer": "metricstimer",
		"redlockrun-check@.timer": "deadmantimer"} {
		for _, section := range []string{"Timer", "Install"} {
			if got, want := said(timer)[section], unit(t, block(t, example))[section]; !maps.Equal(got, want) {
				t.Errorf("%s: %v, on the page %v", timer, got, want)
			}
		}
	}
}

// systemd's own check, of the units at their place, with the page's lines applied to them.
func TestTheUnitsOfAPackageAreVerifiedBySystemd(t *testing.T) {
	m := released(t)
	r := root{t, t.TempDir()}
	must(t, "/", "dpkg-deb", "-x", debOf(t, m.dist), r.dir)
	units := filepath.Join(r.dir, "usr/lib/systemd/system")
	// Instances have the place of their template, and what is outside stands in for the rest of a system.
	for _, kind := range []string{"service", "timer"} {
		must(t, "/", "cp", filepath.Join(units, "redlockrun-check@."+kind),
			filepath.Join(units, "redlockrun-check@nightly-report."+kind))
	}
	for _, name := range []string{"redlockrun-metrics.service", "redlockrun-check@nightly-report.service"} {
		path := filepath.Join(units, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		here := bytes.ReplaceAll(text, []byte("/usr/bin/redlockrun"), []byte(r.path("usr/bin/redlockrun")))
		if bytes.Equal(here, text) {
			t.Errorf("%s starts something else:\n%s", name, text)
		}
		if err := os.WriteFile(path, here, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	argv := []string{"systemd-analyze", "verify", "--man=no"}
	for _, name := range []string{
		"redlockrun-metrics.service", "redlockrun-metrics.timer",
		"redlockrun-check@nightly-report.service", "redlockrun-check@nightly-report.timer",
	} {
		argv = append(argv, filepath.Join(units, name))
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v\n%s", err, said)
	}

	dropin := unit(t, block(t, "dropin"))
	service := unit(t, string(read(t, filepath.Join(units, "redlockrun-check@.service"))))["Service"]
	name, _, _ := strings.Cut(dropin["Service"]["Environment"], "=")
	if own, _, _ := strings.Cut(service["Environment"], "="); name == "" || own != name ||
		dropin["Unit"]["OnFailure"] == "" {
		t.Errorf("the page sets %q, the unit has %q", name, own)
	}
	for _, word := range strings.Fields(block(t, "units") + " " + block(t, "metricsenable")) {
		template := regexp.MustCompile(`@[^.]*`).ReplaceAllString(word, "@")
		if strings.HasPrefix(word, "redlockrun-") && !r.has(filepath.Join("usr/lib/systemd/system", template)) {
			t.Errorf("the page names %s", word)
		}
	}
}

// A job is the command of a unit, run as systemd does it without a shell.
func TestTheChecksUnitAsksAboutItsInstance(t *testing.T) {
	archive := unpacked(t, released(t), runtime.GOARCH)
	service := unit(t, string(read(t, filepath.Join(archive,
		"lib/systemd/system/redlockrun-check@.service"))))["Service"]
	_, age, _ := strings.Cut(service["Environment"], "=")
	line := strings.NewReplacer("${MAX_AGE}", age, "%i", "nightly-report", "/usr/local",
		archive).Replace(service["ExecStart"])
	s := newSite(t)
	if r := s.run(strings.Fields(line)...); r.status != 2 || !strings.Contains(r.stdout, "nightly-report") {
		t.Errorf("of a job that never ran: %v", r)
	}
	s.succeed("nightly-report")
	if r := s.run(strings.Fields(line)...); r.status != 0 {
		t.Errorf("of one that succeeded: %v", r)
	}
}

func TestTheArchiveIsUnpackedIntoItsPlaces(t *testing.T) {
	archive := unpacked(t, released(t), runtime.GOARCH)
	var got []string
	err := fs.WalkDir(os.DirFS(archive), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got = append(got, "/"+path)
		}
		return err
	})
	var want []string
	for _, path := range alphabetic(inRPM, "/usr/share/doc/redlockrun/examples/default") {
		if rest, is := strings.CutPrefix(path, "/usr/"); is {
			want = append(want, "/"+rest)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: it has\n%q, want\n%q", err, got, want)
	}
	s := newSite(t)
	s.env = append(s.env, "REDLOCKRUN_CONFIG="+filepath.Join(archive, "share/doc/redlockrun/examples/default"))
	if r := s.run(filepath.Join(archive, "bin/redlockrun"), "--key", "x", "--", "echo",
		"ran"); r != (run{0, "ran\n", ""}) {
		t.Errorf("with the example of a configuration: %v", r)
	}
	s.demonstrate(filepath.Join(archive, "bin/redlockrun"))
}

// demonstrate lets that program, and nothing else that lies beside it, do what `make demo` shows.
func (s *site) demonstrate(program string) {
	s.t.Helper()
	alone := s.t.TempDir()
	if err := os.Symlink(program, filepath.Join(alone, "redlockrun")); err != nil {
		s.t.Fatal(err)
	}
	if said := must(s.t, s.dir, abs(s.t, "../../../scripts/demo.sh"), alone); !strings.Contains(said,
		"All of it happened.") {
		s.t.Errorf("the demonstration:\n%s", said)
	}
}

func abs(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The list of what is linked in is SPDX, names what the program was built of, and has its sum.
func TestTheListOfPartsIsThatOfTheProgram(t *testing.T) {
	m := released(t)
	var list struct {
		Version   string `json:"spdxVersion"`
		ID        string `json:"SPDXID"`
		License   string `json:"dataLicense"`
		Namespace string `json:"documentNamespace"`
		Packages  []struct {
			ID       string `json:"SPDXID"`
			Name     string
			Version  string `json:"versionInfo"`
			Declared string `json:"licenseDeclared"`
			Refs     []struct {
				Type    string `json:"referenceType"`
				Locator string `json:"referenceLocator"`
			} `json:"externalRefs"`
		}
		Files []struct {
			Name      string `json:"fileName"`
			Checksums []struct {
				Algorithm string
				Value     string `json:"checksumValue"`
			}
		}
		Relationships []struct {
			From string `json:"spdxElementId"`
			To   string `json:"relatedSpdxElement"`
			Type string `json:"relationshipType"`
		}
	}
	if err := json.Unmarshal(read(t, filepath.Join(m.dist, "redlockrun-"+version+".spdx.json")), &list); err != nil {
		t.Fatal(err)
	}
	if list.Version != "SPDX-2.3" || list.ID != "SPDXRef-DOCUMENT" || list.License != "CC0-1.0" ||
		list.Namespace == "" {
		t.Errorf("it is %q %q %q %q", list.Version, list.ID, list.License, list.Namespace)
	}
	program := filepath.Join(unpacked(t, m, runtime.GOARCH), "bin/redlockrun")
	var want []string // as go version -m tells
	for line := range strings.Lines(must(t, "/", "go", "version", "-m", program)) {
		if words := strings.Fields(line); words[0] == "dep" {
			want = append(want, strings.Join(words[1:4], " "))
		}
	}
	goVersion := strings.TrimPrefix(runtime.Version(), "go")
	ids := map[string]bool{list.ID: true}
	var got []string
	for _, p := range list.Packages {
		ids[p.ID] = true
		if p.Declared == "" || p.Declared == "NOASSERTION" {
			t.Errorf("%s has no licence", p.Name)
		}
		switch p.Name {
		case "std":
			if first, _, _ := strings.Cut(goVersion, " "); p.Version != first {
				t.Errorf("Go is %q, not %q", p.Version, first)
			}
		case "redlockrun":
			if p.Version != version {
				t.Errorf("it is of %q", p.Version)
			}
		default:
			got = append(got, p.Name+" "+p.Version+" "+p.Refs[1].Locator)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(list.Packages) != len(want)+2 {
		t.Errorf("it lists\n%q, linked in are\n%q", got, want)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(read(t, program)))
	found := false
	for _, file := range list.Files {
		of256 := file.Checksums[1]
		found = found || file.Name == "./linux-"+runtime.GOARCH+"/redlockrun" && of256.Algorithm == "SHA256" &&
			of256.Value == sum
		ids["SPDXRef-"+strings.Split(file.Name, "/")[1]] = true
	}
	if !found {
		t.Errorf("it has no program with the sum %s", sum)
	}
	for _, r := range list.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%v relates what it does not list", r)
		}
	}
}

// Jobs that run while the package is upgraded are ended by the program that started them: its file
// is another one by then.
func TestRunningJobsEndByTheProgramBeforeTheUpgrade(t *testing.T) {
	m := released(t)
	old, deb := debOf(t, beforeRelease(t)), debOf(t, m.dist)
	r := debianRoot(t)
	r.bring(old, deb)
	r.run("dpkg -i /" + filepath.Base(old))
	program := r.path("usr/bin/redlockrun")
	s := newSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), releasing)
	defer cancel()

	start := func(args ...string) (*exec.Cmd, func() run) {
		t.Helper()
		cmd := s.command(ctx, append([]string{program}, args...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd, s.begin(cmd)
	}
	here := func(name string) bool { _, err := os.Stat(filepath.Join(s.dir, name)); return err == nil }
	appears := func(name string) {
		t.Helper()
		if !redistest.Until(patience, func() bool { return here(name) }) {
			t.Fatalf("%s never appeared", name)
		}
	}
	let := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// await waits inside a job, for a file that the test makes.
	const await = `await() { while ! [ -e "$1" ]; do sleep 0.1; done; }; `
	_, ended := start("--key", "long", "-c", await+"echo $$ >began; await end; exit 7")
	_, tried := start("--key", "twice", "--attempts", "2", "--attempt-delay", "0.1",
		"-c", await+"echo $$ >first; await again; [ $REDLOCKRUN_ATTEMPT = 2 ]")
	killed, gone := start("--key", "killed", "-c", "echo $$ >victim; exec sleep 1000")
	for _, name := range []string{"began", "first", "victim"} {
		appears(name)
	}
	_, waited := start("--key", "long", "--wait", "forever", "--", "sh", "-c", "echo waited")
	s.until("ZCARD", "redlockrun:{long}:queue")

	r.run("dpkg -i /" + filepath.Base(deb))
	if file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", killed.Process.Pid)); err != nil ||
		!strings.HasSuffix(file, " (deleted)") {
		t.Errorf("the running program's file is %q: it was not replaced (%v)", file, err)
	}
	if said := says(t, program, "--version"); !strings.HasPrefix(said, "redlockrun v"+version+" ") {
		t.Fatalf("upgraded to %q", said)
	}
	if got := s.run(program, "--key", "long", "--", "echo", "beside"); got.status != 75 || got.stdout != "" {
		t.Errorf("the new program, while the old one holds the lock: %v", got)
	}
	status := s.run(program, "status")
	for _, key := range []string{"long", "twice", "killed"} {
		if !regexp.MustCompile(`(?m)^` + key + ` +running `).MatchString(status.stdout) {
			t.Errorf("the new program's status does not show %s running:\n%s", key, status.stdout)
		}
	}

	let("end")
	if got := ended(); got.status != 7 {
		t.Errorf("the long job ended with %v", got)
	}
	if got := waited(); got.status != 0 || got.stdout != "waited\n" {
		t.Errorf("who waited in line before the upgrade: %v", got)
	}
	let("again")
	if got := tried(); got.status != 0 {
		t.Errorf("the second attempt, after the upgrade: %v", got)
	}
	victim := strings.TrimSpace(string(read(t, filepath.Join(s.dir, "victim"))))
	if err := killed.Process.Kill(); err != nil {
		t.Error(err)
	}
	gone()
	if !redistest.Until(patience, func() bool { _, err := os.Stat("/proc/" + victim); return err != nil }) {
		t.Error("the guard of before the upgrade let the command live")
	}
	if got := s.run(program, "--key", "long", "--", "echo", "now"); got != (run{0, "now\n", ""}) {
		t.Errorf("the new program afterwards: %v", got)
	}
}

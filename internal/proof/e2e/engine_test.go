//go:build linux && e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// starter is what podman starts a container by. A machine may lack the right to raise limits,
// and runc then refuses those that podman asks for: they are left as they are.
const starter = `#!/bin/sh
bundle=
for word; do
    [ "$bundle" != next ] || bundle=$word
    [ "$word" != --bundle ] || bundle=next
done
[ -z "$bundle" ] ||
	sed -i -e 's/"rlimits":\[[^]]*\]/"rlimits":[]/' \
		-e 's/"oomScoreAdj":-\{0,1\}[0-9]*/"oomScoreAdj":null/' "$bundle/config.json"
PATH=$PATH:/usr/sbin:/sbin exec runc "$@"
`

// An engine is a podman that keeps all that it makes in a place of its own.
type engine struct {
	*site
	house string // short, as the paths of podman's sockets are
	group string // of processes, in which its containers are
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	house, err := os.MkdirTemp("", "pod")
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{newSite(t), house, "/redlockrun-" + filepath.Base(house)}
	t.Cleanup(e.leaveNothing)
	if err := os.WriteFile(filepath.Join(house, "runtime"), []byte(starter), 0o755); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *engine) leaveNothing() {
	e.podman("rm", "--all", "--force", "--time", "0")
	const remove = `rm -rf "$1"; for dir in /sys/fs/cgroup"$2" /sys/fs/cgroup/*"$2"; do
		[ ! -d "$dir" ] || find "$dir" -depth -type d -exec rmdir {} + || echo "$dir is left"; done`
	argv := asRoot("sh", "-c", remove, "sh", e.house, e.group)
	if r := e.run(argv...); r.status != 0 || r.stdout != "" {
		e.t.Error(r)
	}
}

// arguments are podman's, as root, with its own place for everything.
func (e *engine) arguments(args ...string) []string {
	at := func(name string) string { return filepath.Join(e.house, name) }
	return append(asRoot("podman", "--log-level", "error", "--root", at("storage"), "--runroot", at("run"), "--tmpdir",
		at("tmp"),
		"--storage-driver", "vfs", "--runtime", at("runtime"), "--cgroup-manager", "cgroupfs", "--events-backend",
		"none"), args...)
}

func (e *engine) podman(args ...string) run {
	e.t.Helper()
	return e.site.run(e.arguments(args...)...)
}

// must is podman, which must do what it is told.
func (e *engine) must(args ...string) (stdout string) {
	e.t.Helper()
	r := e.podman(args...)
	if r.status != 0 {
		e.t.Fatalf("podman %q: %v", args, r)
	}
	return strings.TrimSpace(r.stdout)
}

// confinement takes all rights away that a container can be without.
func confinement() []string {
	return []string{"--read-only", "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt",
		"no-new-privileges"}
}

// contained is a container that has words behind its image: nothing is left of it but what it did.
func (e *engine) contained(options []string, image string, words ...string) *exec.Cmd {
	e.t.Helper()
	args := append([]string{"run", "--rm", "--cgroups", "no-conmon", "--cgroup-parent", e.group}, confinement()...)
	args = append(append(args, options...), image)
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	e.t.Cleanup(cancel)
	argv := e.arguments(append(args, words...)...)
	return e.command(ctx, argv...)
}

// network lets a container ask the site's server.
func (e *engine) network() []string {
	return []string{"--network", "host", "--env", "REDLOCKRUN_REDIS=" + e.server.URL()}
}

// load takes the image that was built, for this machine.
func (e *engine) load() (name string) {
	e.t.Helper()
	said := e.must("load", "--input", built(e.t).archive(native))
	name, found := strings.CutPrefix(said, "Loaded image: ")
	if !found {
		e.t.Fatalf("podman load said %q", said)
	}
	return name
}

// jobImage is an image with a shell and what else busybox has, and with these programs: scripts.
func (e *engine) jobImage(programs map[string]string) (name string) {
	e.t.Helper()
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	put := func(h tar.Header, text []byte) {
		h.Mode, h.Size = 0o755, int64(len(text))
		if err := w.WriteHeader(&h); err != nil {
			e.t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			e.t.Fatal(err)
		}
	}
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		e.t.Fatal(err)
	}
	put(tar.Header{Name: "bin/busybox"}, busybox)
	for _, name := range strings.Fields("sh cat sleep grep true touch kill test") {
		put(tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}, nil)
	}
	for name, text := range programs {
		put(tar.Header{Name: "usr/bin/" + name}, []byte(text))
	}
	if err := w.Close(); err != nil {
		e.t.Fatal(err)
	}
	file := filepath.Join(e.dir, "job.tar")
	if err := os.WriteFile(file, image.Bytes(), 0o600); err != nil {
		e.t.Fatal(err)
	}
	e.must("import", file, "job:1")
	return "localhost/job:1"
}

// shared is a directory in which every user may write, as a volume is at first.
func (e *engine) shared() (dir string) {
	e.t.Helper()
	dir, err := os.MkdirTemp(e.dir, "volume")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return dir
}

// untilFile waits for a file.
func (e *engine) untilFile(path string) {
	e.t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	e.t.Fatalf("%s never came", path)
}

// mount is the option that shows a directory or file of this machine in a container.
func mount(from, to, how string) []string {
	return []string{"--volume", fmt.Sprintf("%s:%s:%s", from, to, how)}
}

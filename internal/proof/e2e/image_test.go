//go:build linux && e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// native is the processor of this machine, for which an image is built if it is one of these.
const native = runtime.GOARCH

var processors = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// images are what scripts/image.sh has made: the archive of each digest that it told, by name.
type images struct {
	dir     string
	digests map[string]string
}

// archive is the file for a processor; "" is that of all of them.
func (i images) archive(processor string) string {
	suffix := "-image.tar"
	if processor != "" {
		suffix = "-image-" + processor + ".tar"
	}
	for name := range i.digests {
		if strings.HasSuffix(name, suffix) {
			return filepath.Join(i.dir, name)
		}
	}
	return suffix
}

// buildImages runs the script with a umask and a directory for what it makes meanwhile.
func buildImages(dir, umask, meanwhile string) (images, error) {
	cmd := exec.Command("sh", "-c", `umask "$1" && exec ../../../scripts/image.sh "$2"`, "sh", umask, dir)
	cmd.Env = append(os.Environ(), "TMPDIR="+meanwhile)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return images{}, fmt.Errorf("image.sh: %w: %s", err, said.String())
	}
	i := images{dir, map[string]string{}}
	for line := range strings.Lines(string(out)) {
		name, digest, _ := strings.Cut(strings.TrimSpace(line), " ")
		i.digests[name] = digest
	}
	return i, nil
}

// firstImages are built once for all tests, beside the program that they test.
var firstImages = sync.OnceValues(func() (images, error) {
	return buildImages(filepath.Join(bin, "images"), "022", bin)
})

func built(t *testing.T) images {
	t.Helper()
	i, err := firstImages()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestTheImageIsTheSameWhoeverBuildsIt(t *testing.T) {
	first := built(t)
	again, err := buildImages(t.TempDir(), "077", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(first.digests) != len(processors)+1 || len(again.digests) != len(first.digests) {
		t.Fatalf("%v, %v", first, again)
	}
	for name, digest := range first.digests {
		one, err := os.ReadFile(filepath.Join(first.dir, name))
		other, otherErr := os.ReadFile(filepath.Join(again.dir, name))
		if err != nil || otherErr != nil || !bytes.Equal(one, other) || again.digests[name] != digest {
			t.Errorf("%s differs: %s and %s, %v, %v", name, digest, again.digests[name], err, otherErr)
		}
	}
}

// blobs are the files of an OCI archive, by path. Each blob has the digest that it is named by.
func blobs(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files := map[string][]byte{}
	for h, text := range entries(t, f) {
		path := strings.TrimPrefix(h.Name, "./")
		sum := sha256.Sum256(text)
		if digest, isBlob := strings.CutPrefix(path, "blobs/sha256/"); isBlob && digest != "" &&
			digest != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has %x", path, sum)
		}
		files[path] = text
	}
	return files
}

// entries are those of a tar.
func entries(t *testing.T, r io.Reader) map[*tar.Header][]byte {
	t.Helper()
	found := map[*tar.Header][]byte{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		found[h] = text
	}
}

// A descriptor names a blob.
type descriptor struct {
	Digest   string
	Platform struct{ OS, Architecture string }
}

// open reads the blob, which is JSON, into a value.
func (d descriptor) open(t *testing.T, files map[string][]byte, into any) {
	t.Helper()
	if err := json.Unmarshal(d.bytes(files), into); err != nil {
		t.Fatalf("%s: %v", d.Digest, err)
	}
}

func (d descriptor) bytes(files map[string][]byte) []byte {
	return files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
}

// An index names images, or the index of them.
type index struct{ Manifests []descriptor }

func indexOf(t *testing.T, files map[string][]byte) (i index) {
	t.Helper()
	if err := json.Unmarshal(files["index.json"], &i); err != nil || len(i.Manifests) != 1 {
		t.Fatalf("index.json: %s, %v", files["index.json"], err)
	}
	return i
}

func TestTheImageOfAllProcessorsHasEachOfThem(t *testing.T) {
	files := blobs(t, built(t).archive(""))
	var all index
	indexOf(t, files).Manifests[0].open(t, files, &all)
	if len(all.Manifests) != len(processors) {
		t.Errorf("%+v", all)
	}
	for _, m := range all.Manifests {
		alone := filepath.Base(built(t).archive(m.Platform.Architecture))
		if digest := built(t).digests[alone]; m.Digest != digest || m.Platform.OS != "linux" {
			t.Errorf("%+v, but %s is %s", m, alone, digest)
		}
	}
}

func TestTheImageHasTheProgramAndCertificatesAndNothingElse(t *testing.T) {
	version, err := exec.Command("../../../scripts/version.sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(string(version))
	for processor, machine := range processors {
		files := blobs(t, built(t).archive(processor))
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		indexOf(t, files).Manifests[0].open(t, files, &manifest)
		var image struct {
			OS, Architecture, Created string
			Config                    struct {
				User                 string
				Entrypoint, Cmd, Env []string
				Labels               map[string]string
			}
		}
		manifest.Config.open(t, files, &image)
		c := image.Config
		if image.OS != "linux" || image.Architecture != processor || image.Created != known[2] ||
			c.User != "65532:65532" || len(c.Cmd) != 0 ||
			!slices.Equal(c.Entrypoint, []string{"/usr/local/bin/redlockrun"}) {
			t.Errorf("%s: %+v", processor, image)
		}
		const label = "org.opencontainers.image."
		if !strings.HasPrefix(c.Labels[label+"revision"], known[1]) || c.Labels[label+"created"] != known[2] ||
			c.Labels[label+"licenses"] != "MIT" || c.Labels[label+"version"] == "" ||
			strings.Contains(c.Labels[label+"source"], "@") {
			t.Errorf("%s: labels %v", processor, c.Labels)
		}
		wantLayers(t, machine, files, manifest.Layers)
	}
}

// wantLayers fails the test unless the layers have the two files.
func wantLayers(t *testing.T, machine elf.Machine, files map[string][]byte, layers []descriptor) {
	t.Helper()
	there := map[string]string{}
	for _, layer := range layers {
		unzipped, err := gzip.NewReader(bytes.NewReader(layer.bytes(files)))
		if err != nil {
			t.Fatal(err)
		}
		for h, text := range entries(t, unzipped) {
			there[strings.Trim(h.Name, "/")] = fmt.Sprintf("%v %d:%d", h.FileInfo().Mode(), h.Uid, h.Gid)
			switch filepath.Base(h.Name) {
			case "redlockrun":
				wantStatic(t, machine, text)
			case "ca-certificates.crt":
				if !x509.NewCertPool().AppendCertsFromPEM(text) {
					t.Error("there is no certificate")
				}
			}
		}
	}
	const directory, program, file = "drwxr-xr-x 0:0", "-rwxr-xr-x 0:0", "-rw-r--r-- 0:0"
	want := map[string]string{
		"etc": directory, "etc/ssl": directory, "etc/ssl/certs": directory, "etc/ssl/certs/ca-certificates.crt": file,
		"usr": directory, "usr/local": directory, "usr/local/bin": directory, "usr/local/bin/redlockrun": program,
	}
	delete(there, "")
	for path := range there {
		if there[path] != want[path] {
			t.Errorf("%s is there: %s, not %q", path, there[path], want[path])
		}
	}
	if len(there) != len(want) {
		t.Errorf("it has %v", there)
	}
}

// wantStatic fails the test unless the program is for the processor, and needs no library.
func wantStatic(t *testing.T, machine elf.Machine, text []byte) {
	t.Helper()
	program, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
			t.Errorf("it has %v", part.Type)
		}
	}
	if program.Machine != machine {
		t.Errorf("it is for %v, not for %v", program.Machine, machine)
	}
}

package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/proof/locktest"
)

// TestFreeze writes what this release leaves in a file, if that is wanted.
func TestFreeze(t *testing.T) {
	if !locktest.Freezing() {
		return
	}
	s := openLocal(t)
	write := func(name string) {
		text, err := os.ReadFile(filepath.Join(s.Address(), "job.lock"))
		locktest.Must(t, err)
		locktest.Freeze(t, "local", name, locktest.Still(string(text[:len(text)-1])))
	}
	req := locktest.RequestFor("job")
	req.Holder = locktest.FrozenHolder()
	l := locktest.Acquire(t, s, req)
	write("file.json")
	letGo(t, l, time.Hour)
	write("file-ended.json")
}

func TestFrozenFilesAreRead(t *testing.T) {
	locktest.Advise(t)
	for _, name := range []string{"file.json", "file-ended.json"} {
		s := openLocal(t)
		want := locktest.FrozenHolder()
		want.Protocol = 1
		path := filepath.Join(s.Address(), "job.lock")
		l := locktest.Acquire(t, s, locktest.RequestFor("job"))
		text := locktest.Frozen(t, "local", name)
		locktest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		if name == "file.json" {
			if held := locktest.MustBeBusy(t, s, "job"); held.Holder != want || held.Since.IsZero() {
				t.Errorf("%s is read as %+v", name, held)
			}
		}
		f, err := openLockFile(s.at, s.dir, "job.lock")
		locktest.Must(t, err)
		r, err := f.read()
		locktest.Must(t, err)
		locktest.Must(t, f.Close())
		if ended := name == "file-ended.json"; r.Fence != 1763790000123 || r.At != 1763790000123 ||
			(r.Ended != 0) != ended || (r.Until != 0) != ended || r.Run != want.Run {
			t.Errorf("%s is read as %+v", name, r)
		}
		letGo(t, l, 0)
	}
}

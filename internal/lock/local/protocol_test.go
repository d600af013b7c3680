package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"
	"redlockrun/internal/proof/locktest"
)

func TestAFileOfANewerReleaseIsBusyAndMayBeWaitedFor(t *testing.T) {
	s := openLocal(t)
	path, run := filepath.Join(s.Address(), "job.lock"), lock.NewRunID()
	write := func(more string) {
		t.Helper()
		locktest.Must(t, os.WriteFile(path, fmt.Appendf(nil,
			`{"run":"%s",%s"v":%d,"new":{},"host":"next","pid":1,"user":"u","cmd":"c","start":1,`+
				`"fence":9000000000000000,"at":1000}`+"\n",
			run, more, wire.Protocol+1), 0o600))
	}
	l := locktest.Acquire(t, s, locktest.RequestFor("job"))
	write("")
	if held := locktest.MustBeBusy(t, s, "job"); held.Holder.Run != run || held.Holder.Protocol != wire.Protocol+1 ||
		held.Holder.Host != "next" {
		t.Errorf("%+v", held)
	}
	if _, err := l.Renew(t.Context()); err != nil { // the file is the lock, whatever is in it
		t.Error(err)
	}
	letGo(t, l, 0)

	now := time.Now().UnixMilli()
	write(fmt.Sprintf(`"ended":%d,"until":%d,`, now, now+300))
	locktest.MustBeBusy(t, s, "job")
	req := locktest.RequestFor("job")
	req.Wait.Limit = lock.Forever
	l = locktest.Acquire(t, s, req)
	if l.Fence() != 9000000000000001 || time.Now().UnixMilli() < now+300 {
		t.Errorf("fence %d", l.Fence())
	}
	letGo(t, l, 0)
}

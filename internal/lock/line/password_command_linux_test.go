package line_test

import (
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/lock"
	"redlockrun/internal/password"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

// A token of a user dies, with the connections that were made with it; the command prints the
// next one. The sentinels keep their own password.
func TestATokenIsReplacedUnderARunningJob(t *testing.T) {
	t.Parallel()
	data := redistest.Options{Users: []string{"alice on >first ~* &* +@all"}}
	single := redistest.Start(t, data)
	sentinel := redistest.StartSentinel(t, redistest.SentinelOptions{Data: data, SentinelPassword: "b"})
	cluster := redistest.StartCluster(t, redistest.ClusterOptions{Data: data})
	sentinels := filepath.Join(t.TempDir(), "sentinels")
	replace(t, sentinels, "b")
	for name, c := range map[string]struct {
		cfg  lock.Servers
		data []*redistest.Server
	}{
		"single": {lock.Servers{URLs: []string{"redis://alice@" + single.Addr()}}, []*redistest.Server{single}},
		"sentinel": {lock.Servers{SentinelPasswordFile: sentinels, URLs: []string{
			"redis+sentinel://alice@" + sentinel.Sentinels[0].Addr() + "," + sentinel.Sentinels[1].Addr() +
				"/mymaster"}}, sentinel.Data},
		"cluster": {lock.Servers{URLs: []string{"redis+cluster://alice@" + cluster.Addr()}}, cluster.Masters},
	} {
		file := filepath.Join(t.TempDir(), "token")
		replace(t, file, "first\n")
		command := password.New("cat " + file)
		c.cfg.Passwords = command
		l := locktest.Acquire(t, place{cfg: c.cfg}.open(t), locktest.RequestFor("job"))
		for _, s := range c.data {
			locktest.Do(t, s, "ACL", "SETUSER", "alice", "resetpass", ">second")
			locktest.Do(t, s, "CLIENT", "KILL", "USER", "alice")
		}
		_, err := l.Renew(locktest.Limited(t, locktest.Patience)) // the token comes later than the service
		if err == nil || strings.Contains(err.Error(), "first") {
			t.Errorf("%s: %v", name, err)
		}
		replace(t, file, "second\n")
		locktest.Renew(t, l)
		release(t, l)
		command.Close()
	}
}

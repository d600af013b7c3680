package main

import (
	"path/filepath"
	"strings"
	"testing"

	"redlockrun/internal/explain"
	"redlockrun/internal/proof/redistest"
)

// hostile are replies that a program which believes them dies of.
var hostile = []string{
	"%100000000\r\n", "*2147483647\r\n", "$9223372036854775807\r\n", strings.Repeat("*1\r\n", 10_000_000),
	"$2000000000\r\n",
	"*400000\r\n" + strings.Repeat("*400000\r\n", 50),
}

func TestAHostileReplyIsNotAnAnswer(t *testing.T) {
	t.Parallel()
	p := redistest.NewProxy(t, redistest.Start(t, redistest.Options{}))
	for _, reply := range hostile {
		stop := p.Forge(acquiring, reply)
		run := launch(t, p.URL(), "-k", "job", "--redis-timeout", "1", "true")
		run.ends(explain.StatusUnavailable)
		if said := run.stderr(); !strings.Contains(said, "read reply: ") || strings.Contains(said, "goroutine") {
			t.Errorf("%.40q: said %s", reply, said)
		}
		stop()
	}
}

// The command lives on: the lease is renewed when the server answers again.
func TestAHostileReplyToARenewalEndsNothing(t *testing.T) {
	t.Parallel()
	p := redistest.NewProxy(t, redistest.Start(t, redistest.Options{}))
	dir := t.TempDir()
	for _, reply := range hostile {
		file := filepath.Join(dir, "end")
		n := p.Count(renewing)
		stop := p.Forge(renewing, reply)
		run := launch(t, p.URL(), "-k", "job", "-v", "--ttl", "20", "--renew-every", "0.1",
			"-c", "until [ -e "+file+" ]; do sleep 0.05; done; exit 7")
		if !p.Await(renewing, n+2) {
			t.Fatal("no second try of a renewal")
		}
		stop()
		until(t, "a renewal", func() bool { return strings.Contains(run.stderr(), "renewed again") })
		touch(t, filepath.Join(dir, "end"))
		run.ends(7)
		dir = t.TempDir()
	}
}

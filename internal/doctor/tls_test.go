package doctor_test

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/doctor"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/redistest"
)

// showing is a server that shows a certificate for these hosts, which ends after so long.
func showing(t *testing.T, lasts time.Duration, hosts ...string) lock.Servers {
	t.Helper()
	ca, err := redistest.NewCA(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue("server", time.Now().Add(lasts), hosts...)
	if err != nil {
		t.Fatal(err)
	}
	cfg := at(redistest.Start(t, redistest.Options{Persist: true, TLS: true, CA: ca, Pair: pair}).URL())
	cfg.CA = ca.File()
	return cfg
}

const day = 24 * time.Hour

func TestACertificateIsJudgedByItsEnd(t *testing.T) {
	t.Parallel()
	found := examine(t, showing(t, 30*day+time.Hour, "127.0.0.1"))
	wants(t, found, "tls", doctor.Ok, "expires in 30 days")
	isFine(t, found)
	found = examine(t, showing(t, 10*day+time.Hour, "127.0.0.1"))
	wants(t, found, "tls", doctor.Warn, "expires in 10 days")
	isFine(t, found, "tls")
	wants(t, examine(t, showing(t, -time.Hour, "127.0.0.1")), "tls", doctor.Fail, "expired")
}

func TestACertificateIsForTheNameInTheURL(t *testing.T) {
	t.Parallel()
	wants(t, examine(t, showing(t, 30*day, "redis.example")), "tls", doctor.Fail, "127.0.0.1")
}

func TestACertificateOfAStrangerIsRefused(t *testing.T) {
	t.Parallel()
	cfg := showing(t, 30*day, "127.0.0.1")
	cfg.CA = ""
	wants(t, examine(t, cfg), "tls", doctor.Fail, "unknown authority")
}

func TestAPortForTLSIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	cfg := showing(t, 30*day, "127.0.0.1")
	cfg.URLs[0] = "redis" + cfg.URLs[0][len("rediss"):]
	cfg.CA = ""
	f := wants(t, examine(t, cfg), "server", doctor.Fail, "")
	if !strings.Contains(f.Remedy, "rediss://") {
		t.Errorf("the remedy is %q", f.Remedy)
	}
}

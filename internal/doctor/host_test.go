package doctor

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
)

func TestWhatThisHostLacksIsNamed(t *testing.T) {
	fine := func() error { return nil }
	for _, c := range []struct {
		got  Finding
		want Result
		says string
	}{
		{checkHostClock(true, true), Ok, "is synchronized"},
		{checkHostClock(false, true), Warn, "is not synchronized"},
		{checkHostClock(false, false), Unseen, "does not say"},
		{checkProc("/proc/self/exe", fine), Ok, "the guard can start"},
		{checkProc("/nowhere/exe", fine), Fail, "/proc is missing"},
		{checkProc("/", func() error { return errors.New("fork: no memory") }), Fail, "no memory"},
		{checkSecrets(nil), Ok, "no password file"},
		{checkSecrets([]string{"/etc/default/redlockrun"}), Warn, "/etc/default/redlockrun"},
	} {
		if c.got.Result != c.want || !strings.Contains(c.got.Message, c.says) {
			t.Errorf("%+v, want %s %q", c.got, c.want, c.says)
		}
		if c.want != Ok && c.want != Unseen && c.got.Remedy == "" {
			t.Errorf("%+v has no remedy", c.got)
		}
	}
}

func TestWhatFailsAfterTheConnectionIsTLS(t *testing.T) {
	for err, of := range map[error]bool{
		context.DeadlineExceeded: true,
		io.EOF:                   true,
		&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}:   false,
		&net.OpError{Op: "remote error", Err: errors.New("no")}: true,
		&net.DNSError{Err: "no such host"}:                      false,
	} {
		if isOfTLS(err) != of {
			t.Errorf("%v: of TLS is %t", err, !of)
		}
		if tlsRemedy(err) == "" || addressRemedy(err) == "" {
			t.Errorf("%v has no remedy", err)
		}
	}
}

func TestServersAreNamedAndTheOldOnesAreTooOld(t *testing.T) {
	for _, c := range []struct {
		g      greeting
		named  string
		tooOld bool
	}{
		{greeting{"redis", "5.0.14", "standalone", "master"}, "Redis 5.0.14, standalone", true},
		{greeting{"redis", "6.0.16", "standalone", "master"}, "Redis 6.0.16, standalone", false},
		{greeting{"redis", "10.0.0", "cluster", "master"}, "Redis 10.0.0, cluster", false},
		{greeting{"valkey", "8.1.1", "standalone", "master"}, "Valkey 8.1.1, standalone", false},
	} {
		if c.g.String() != c.named || c.g.tooOld() != c.tooOld {
			t.Errorf("%+v: %s, too old: %t", c.g, c.g, c.g.tooOld())
		}
	}
}

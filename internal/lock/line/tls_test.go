package line_test

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/locktest"
	"redlockrun/internal/proof/redistest"
)

func newCA(t *testing.T) *redistest.CA {
	t.Helper()
	ca, err := redistest.NewCA(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func issue(t *testing.T, ca *redistest.CA, name string, notAfter time.Time, hosts ...string) redistest.Pair {
	t.Helper()
	pair, err := ca.Issue(name, notAfter, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// refusedBecause is the error of an acquire that no patience would help.
func refusedBecause(t *testing.T, cfg lock.Servers, cause string) {
	t.Helper()
	req := within(10 * locktest.Patience)
	_, err := place{cfg: cfg}.open(t).Acquire(locktest.Limited(t, locktest.Patience), req)
	var unavailable *lock.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), cause) {
		t.Errorf("%v, want %q", err, cause)
	}
}

func TestTheServersCertificateIsVerified(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{TLS: true, Mutual: true})
	good := withTLS(lock.Servers{URLs: []string{s.URL()}}, s)
	release(t, locktest.Acquire(t, place{cfg: good}.open(t), locktest.RequestFor("job")))

	cfg := good
	cfg.CA = newCA(t).File()
	refusedBecause(t, cfg, "unknown authority")
	cfg.CA = ""
	refusedBecause(t, cfg, "unknown authority")
	cfg = good
	cfg.Cert, cfg.Key = "", ""
	refusedBecause(t, cfg, "certificate required")
	foreign := issue(t, newCA(t), "foreign", time.Now().Add(time.Hour), "127.0.0.1")
	cfg.Cert, cfg.Key = foreign.Cert, foreign.Key
	refusedBecause(t, cfg, "error decrypting message") // the CAs have one name
}

// Before TLS 1.3 the server says it in the handshake.
func TestTLS12RequiresACertificateToo(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{TLS: true, Mutual: true, Args: []string{"--tls-protocols", "TLSv1.2"}})
	refusedBecause(t, lock.Servers{URLs: []string{s.URL()}, CA: s.CA()}, "handshake failure")
}

func TestTheCertificateMustNameTheDialledAddress(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	elsewhere := issue(t, ca, "elsewhere", time.Now().Add(time.Hour), "redis.example", "10.9.9.9")
	s := redistest.Start(t, redistest.Options{TLS: true, CA: ca, Pair: elsewhere})
	refusedBecause(t, lock.Servers{URLs: []string{s.URL()}, CA: ca.File()}, "10.9.9.9")

	// With Sentinel, the name of the sentinel says nothing about the master.
	st := redistest.StartSentinel(t, redistest.SentinelOptions{Data: redistest.Options{TLS: true, CA: ca}})
	locktest.Must(t, configure(st.Data[0], elsewhere))
	refusedBecause(t, lock.Servers{URLs: []string{st.URL()}, CA: ca.File()}, "10.9.9.9")
}

func TestTLSServerNameCanDifferFromTheAddress(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	elsewhere := issue(t, ca, "elsewhere", time.Now().Add(time.Hour), "redis.example")
	s := redistest.Start(t, redistest.Options{TLS: true, CA: ca, Pair: elsewhere})
	cfg := lock.Servers{URLs: []string{s.URL()}, CA: ca.File(), ServerName: "redis.example"}
	release(t, locktest.Acquire(t, place{cfg: cfg}.open(t), locktest.RequestFor("job")))
	cfg.ServerName = "other.example"
	refusedBecause(t, cfg, "not other.example")

	// With Sentinel, of each that is spoken to.
	st := redistest.StartSentinel(t, redistest.SentinelOptions{Data: redistest.Options{TLS: true, CA: ca}})
	cfg = lock.Servers{URLs: []string{st.URL()}, CA: ca.File(), ServerName: "localhost"}
	release(t, locktest.Acquire(t, place{cfg: cfg}.open(t), locktest.RequestFor("job")))
	locktest.Must(t, configure(st.Data[0], elsewhere))
	refusedBecause(t, cfg, "not localhost")
	cfg.ServerName = "redis.example"
	refusedBecause(t, cfg, "not redis.example")

	cfg = lock.Servers{URLs: []string{"redis://127.0.0.1"}, ServerName: "redis.example"}
	var wrong *lock.ConfigError
	if _, err := line.Open(cfg); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "does not use TLS") {
		t.Errorf("without TLS: %v", err)
	}
}

// configure gives a running server another certificate.
func configure(s *redistest.Server, pair redistest.Pair) error {
	_, err := s.Do("CONFIG", "SET", "tls-cert-file", pair.Cert) // the key is that of all of its CA
	return err
}

func TestACertificateExpiresUnderARunningJob(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	good := issue(t, ca, "good", time.Now().Add(time.Hour), "127.0.0.1")
	expired := issue(t, ca, "expired", time.Now().Add(-time.Minute), "127.0.0.1")
	s := redistest.Start(t, redistest.Options{TLS: true, CA: ca, Pair: good})
	l := locktest.Acquire(t, place{cfg: lock.Servers{URLs: []string{s.URL()}, CA: ca.File()}}.open(t),
		locktest.RequestFor("job"))
	locktest.Must(t, configure(s, expired))
	locktest.Do(t, s, "CLIENT", "KILL", "TYPE", "normal")
	for range 3 { // the first may only find the connection cut
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err == nil || errors.Is(err, lock.ErrLost) {
			t.Fatal(err)
		}
	}
	if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err == nil ||
		!strings.Contains(err.Error(), "expired") {
		t.Errorf("said: %v", err)
	}
	locktest.Must(t, configure(s, good))
	locktest.Renew(t, l)
	release(t, l)
}

func TestAClientCertificateIsReplacedUnderARunningJob(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{TLS: true, Mutual: true})
	dir := t.TempDir()
	cfg := lock.Servers{URLs: []string{s.URL()}, CA: s.CA(), Cert: filepath.Join(dir, "c"),
		Key: filepath.Join(dir, "k")}
	replace(t, cfg.Cert, read(t, s.Cert()))
	replace(t, cfg.Key, read(t, s.Key()))
	l := locktest.Acquire(t, place{cfg: cfg}.open(t), locktest.RequestFor("job"))
	foreign := issue(t, newCA(t), "foreign", time.Now().Add(time.Hour), "127.0.0.1")
	replace(t, cfg.Cert, read(t, foreign.Cert))
	replace(t, cfg.Key, read(t, foreign.Key))
	locktest.Do(t, s, "CLIENT", "KILL", "TYPE", "normal")
	for range 2 {
		if _, err := l.Renew(locktest.Limited(t, locktest.Patience)); err == nil || errors.Is(err, lock.ErrLost) {
			t.Fatal(err)
		}
	}
	replace(t, cfg.Cert, read(t, s.Cert()))
	replace(t, cfg.Key, read(t, s.Key()))
	locktest.Renew(t, l)
	release(t, l)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replace gives a file another content, at once.
func replace(t *testing.T, path, text string) {
	t.Helper()
	locktest.Must(t, errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)))
}

func TestTLSIsAtLeast12(t *testing.T) {
	t.Parallel()
	ca := newCA(t)
	pair := issue(t, ca, "old", time.Now().Add(time.Hour), "127.0.0.1")
	cert, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	for version, refused := range map[uint16]bool{tls.VersionTLS11: true, tls.VersionTLS12: false} {
		cfg := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS10, MaxVersion: version}
		l, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
		if err != nil {
			t.Fatal(err)
		}
		var talks sync.WaitGroup
		shaken := make(chan bool, 100)
		talks.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				shaken <- c.(*tls.Conn).Handshake() == nil
				c.Close()
			}
		})
		s := place{cfg: lock.Servers{URLs: []string{"rediss://" + l.Addr().(*net.TCPAddr).String()},
			CA: ca.File()}}.open(t)
		done, enough := begin(t, s, within(locktest.Patience))
		if got := <-shaken; got == refused {
			t.Errorf("%s: the handshake succeeded: %v", tls.VersionName(version), got)
		}
		enough(nil)
		<-done
		l.Close()
		talks.Wait()
	}
}

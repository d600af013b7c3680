package line_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/line"
	"redlockrun/internal/proof/locktest"
)

// told is all that users are told when the password of a URL is password:
// by Open, or else by a server that repeats everything it hears.
func told(password string) string {
	var all strings.Builder
	for _, form := range locktest.Written(password) {
		for _, raw := range []string{
			"redis://:" + form + "@127.0.0.1:1/0", "redis://alice:" + form + "@127.0.0.1", "rediss://:" + form + "@h",
			"unix://:" + form + "@/run/redis.sock", "redis+sentinel://:" + form + "@h/m",
			"redis+cluster://:" + form + "@h",
			"redis://" + form + "@h", "redis://h/?password=" + form, "valkey://:" + form + "@h",
		} {
			all.WriteString(toldBy(raw))
		}
	}
	return all.String()
}

func toldBy(raw string) string {
	for _, secret := range []bool{false, true} {
		cfg := lock.Servers{URLs: []string{raw}, Prefix: lock.DefaultPrefix}
		cfg.Dial = parrot(secret)
		s, err := line.Open(cfg)
		var conf *lock.ConfigError
		if errors.As(err, &conf) {
			return err.Error() + conf.Hint
		}
		if err != nil {
			return err.Error()
		}
		defer s.Close()
		if strings.HasPrefix(raw, "rediss") {
			continue // a handshake repeats nothing
		}
		req := within(20 * time.Millisecond)
		_, err = s.Acquire(context.Background(), req)
		return s.Address() + err.Error()
	}
	return ""
}

// parrot connects to a server that answers each request by an error which
// repeats its words: as an unknown command's, or as a refusal.
func parrot(refusal bool) lock.Dialer {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			buf := make([]byte, 64<<10)
			for {
				n, err := server.Read(buf)
				if err != nil {
					return
				}
				words := bytes.Map(func(r rune) rune {
					if r == '\r' || r == '\n' {
						return ' '
					}
					return r
				}, buf[:n])
				reply := "-ERR unknown command 'HELLO', with args beginning with: "
				if refusal {
					reply = "-WRONGPASS "
				}
				if _, err := server.Write([]byte(reply + string(words) + "\r\n")); err != nil {
					return
				}
			}
		}()
		return client, nil
	}
}

// Whatever stands in a text with another password in it is no secret.
func leaks(password, text, other string) bool {
	for _, form := range locktest.Written(password) {
		if strings.Contains(text, form) && !strings.Contains(other, form) {
			return true
		}
	}
	return false
}

func TestNoMessageShowsThePassword(t *testing.T) {
	t.Parallel()
	other := told("another-one-4711")
	for _, password := range []string{
		"s3cret/pass", "s3cret#pass", "s3cret%pass", "s3cret@pass", "s3cret:pass", "s3cret pass", "s3cret?pass",
		"s3cret%41pass", "s3c/r@e#t%z",
		"6379/0?s3cret", "6379/0#s3cret", "6379/s3cret", "1/2@s3cret", "a,b/s3cret", "s3cret\x1bpass", `s3cret"pass\`,
		"s3crét", "[::1]:s3cret",
		"db=s3cret", "?db=s3cret&x", "s3cret\xffpass", "redis://s3cret", "s3cret\npass",
		"with args beginning with s3cret",
	} {
		if text := told(password); leaks(password, text, other) || strings.Contains(text, "s3c") {
			t.Errorf("%q is shown: %q", password, text)
		}
	}
}

func FuzzNoMessageShowsThePassword(f *testing.F) {
	other := told("another-one-4711")
	f.Add("s3cret/#%@: pass")
	f.Fuzz(func(t *testing.T, password string) {
		if len(password) < 6 {
			return // too short to be told from other text
		}
		if text := told(password); leaks(password, text, other) {
			t.Errorf("%q is shown: %q", password, text)
		}
	})
}

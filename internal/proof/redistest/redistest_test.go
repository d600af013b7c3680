package redistest_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/proof/redistest"
)

// patience bounds each wait: much more than a loaded machine needs.
const patience = 30 * time.Second

// talk sends a command to addr and returns the first line of the answer.
func talk(t *testing.T, addr, words string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(request(words)); err != nil {
		return "", err // a reset may come before the request
	}
	return bufio.NewReader(c).ReadString('\n')
}

func send(t *testing.T, c net.Conn, words string) {
	t.Helper()
	if _, err := c.Write(request(words)); err != nil {
		t.Fatal(err)
	}
}

func request(words string) (raw []byte) {
	list := strings.Fields(words)
	raw = fmt.Appendf(raw, "*%d\r\n", len(list))
	for _, w := range list {
		raw = fmt.Appendf(raw, "$%d\r\n%s\r\n", len(w), w)
	}
	return raw
}

func get(t *testing.T, s *redistest.Server, key string) any {
	t.Helper()
	v, err := s.Do("GET", key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRestartKeepsOrLosesTheData(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		s := redistest.Start(t, redistest.Options{Persist: true})
		if _, err := s.Do("SET", "a", "1"); err != nil {
			t.Fatal(err)
		}
		addr := s.Addr()
		if err := s.Restart(keep); err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, "a"); (got == "1") != keep || s.Addr() != addr {
			t.Errorf("keep %v: a = %v, address %s was %s", keep, got, s.Addr(), addr)
		}
	}
}

func TestUsersPasswordAndTLS(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{Password: "secret", TLS: true, Mutual: true,
		Users: []string{"alice on >pw ~a* +get"}})
	if !strings.HasPrefix(s.URL(), "rediss://:secret@127.0.0.1:") {
		t.Errorf("URL = %s", s.URL())
	}
	list, err := s.Do("ACL", "USERS")
	if err != nil || fmt.Sprint(list) != "[alice default]" {
		t.Errorf("users %v, %v", list, err)
	}
}

func TestProxyForwardsAndCounts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	if got, err := talk(t, p.Addr(), "SET a 1"); got != "+OK\r\n" {
		t.Fatalf("got %q, %v", got, err)
	}
	if p.RoundTrips() != 1 || p.Accepted() != 1 || p.Count("SET a") != 1 {
		t.Errorf("%d trips, %d connections, %q", p.RoundTrips(), p.Accepted(), p.Requests())
	}
}

func TestProxyLosesAReply(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	p.LoseReply("SET a")
	if got, err := talk(t, p.Addr(), "SET a 1"); err == nil {
		t.Fatalf("got %q", got)
	}
	if get(t, s, "a") != "1" {
		t.Error("the request did not reach the server")
	}
	if got, err := talk(t, p.Addr(), "SET a 2"); got != "+OK\r\n" {
		t.Errorf("the next request got %q, %v", got, err)
	}
}

func TestProxyHoldsARequestThatOutlivesItsClient(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	release := p.Hold("SET a")
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	send(t, c, "SET a 1")
	if !p.Await("SET a", 1) {
		t.Fatal("no request")
	}
	c.Close()
	if get(t, s, "a") != nil {
		t.Fatal("the request was not held")
	}
	release()
	if !p.AwaitClosed() || get(t, s, "a") != "1" {
		t.Error("the held request did not arrive")
	}
}

func TestProxyResetsAndRefuses(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	p.BlackHole(true)
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send(t, c, "SET a 1")
	if !p.Await("SET a", 1) {
		t.Fatal("no request")
	}
	p.Reset()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("read after a reset succeeded")
	}
	p.Refuse(true)
	if got, err := talk(t, p.Addr(), "PING"); err == nil {
		t.Errorf("refused, but got %q", got)
	}
}

func TestProxyPlaysAServerThatLacksACommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	p := redistest.NewProxy(t, s)
	p.Forbid("PUBLISH", "ERR unknown command 'PUBLISH'")
	p.Play("TIME", "return {'0', '0'}")
	p.Play("INCR", "return command(...) and 7")
	for words, want := range map[string]string{
		"publish a b": "-ERR unknown command 'PUBLISH'\r\n",
		"EVAL return(redis.pcall('publish','a','b')) 0":                     "-ERR unknown command 'PUBLISH'\r\n",
		"EVAL return(redis.call('incr','a')+redis.call('TIME')[1]) 0":       ":7\r\n",
		"EVAL return(select(2,pcall(redis.call,'PUBLISH','a','b'))..'!') 0": "$30\r\n",
		"PING": "+PONG\r\n",
	} {
		if got, err := talk(t, p.Addr(), words); got != want || err != nil {
			t.Errorf("%s: %q, %v", words, got, err)
		}
	}
	if got := get(t, s, "a"); got != "1" {
		t.Errorf("the real command has made it %v", got)
	}
}

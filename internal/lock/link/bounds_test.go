package link

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/locktest"

	"github.com/redis/go-redis/v9"
)

// Replies that are sound, one behind the other.
const soundReplies = "+OK\r\n:-17\r\n-ERR no\r\n$3\r\na\nb\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n" +
	"*3\r\n:1\r\n*2\r\n$1\r\nx\r\n*0\r\n+y\r\n*1\r\n*1\r\n*1\r\n*1\r\n$-1\r\n"

func TestSoundRepliesPassInWhateverPieces(t *testing.T) {
	for size := 1; size <= len(soundReplies); size++ {
		b := bounds{most: 200}
		for rest := soundReplies; rest != ""; {
			n := min(size, len(rest))
			if err := b.follow([]byte(rest[:n])); err != nil {
				t.Fatalf("pieces of %d: %v before %q", size, err, rest)
			}
			rest = rest[n:]
		}
		if b.depth != 0 || b.skip != 0 || b.length != 0 {
			t.Errorf("pieces of %d: it is not over: %+v", size, b)
		}
	}
}

// hostile are replies for which go-redis would take memory, or the stack, without a bound.
var hostile = map[string]string{
	"a text without an end":     "$9223372036854775807\r\n",
	"a text that is too long":   "$8388609\r\n",
	"a list that is too long":   "*2147483647\r\n",
	"a list of lists":           strings.Repeat("*1\r\n", 1000),
	"lists that are long each":  strings.Repeat("*300000\r\n", 3),
	"texts that are long each":  "*3\r\n$5000000\r\n" + strings.Repeat("x", 5000000) + "\r\n$5000000\r\n",
	"a map":                     "%100000000\r\n",
	"a set":                     "~100000000\r\n",
	"a push":                    ">100000000\r\n",
	"attributes":                "|100000000\r\n",
	"a verbatim text":           "=9223372036854775807\r\n",
	"a blob of an error":        "!9223372036854775807\r\n",
	"a line without an end":     "+" + strings.Repeat("x", mostLine),
	"a number without an end":   ":" + strings.Repeat("1", mostLine),
	"a length of a negative":    "$-2\r\n",
	"a length that is none":     "*x\r\n",
	"a length that is too long": "$" + strings.Repeat("0", 30) + "1\r\n",
	"no line":                   "\r\n",
	"a line that ends too soon": "$1\nx\r\n",
}

func TestHostileRepliesAreRefusedInWhateverPieces(t *testing.T) {
	for what, text := range hostile {
		for _, size := range []int{1, 7, 4096, len(text)} {
			b := bounds{most: mostOfRuns}
			var err error
			for rest := text; rest != "" && err == nil; {
				n := min(size, len(rest))
				err = b.follow([]byte(rest[:n]))
				rest = rest[n:]
			}
			if !errors.As(err, new(*replyError)) {
				t.Errorf("%s, pieces of %d: %v", what, size, err)
			}
		}
	}
}

// A said is a connection whose server has said all that it will, and listens to nothing.
type said struct {
	net.Conn // nil
	io.Reader
	addr net.TCPAddr
}

func (s *said) Read(b []byte) (int, error)       { return s.Reader.Read(b) }
func (s *said) Write(b []byte) (int, error)      { return len(b), nil }
func (s *said) Close() error                     { return nil }
func (s *said) LocalAddr() net.Addr              { return &s.addr }
func (s *said) RemoteAddr() net.Addr             { return &s.addr }
func (s *said) SetDeadline(time.Time) error      { return nil }
func (s *said) SetReadDeadline(time.Time) error  { return nil }
func (s *said) SetWriteDeadline(time.Time) error { return nil }

// answered returns the result of a request to a server that sends text.
func answered(t testing.TB, text string) (any, error) {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return &said{Reader: strings.NewReader(text)}, nil
	}
	src := &Source{cfg: lock.Servers{Dial: dial}, addr: Address{hosts: []string{"h:1"}}}
	cs := newConns(t.Context(), src, &inFlight{off: true})
	defer cs.end()
	c := redis.NewClient(options(src.addr, cs))
	defer c.Close()
	return c.Do(t.Context(), "PING").Result()
}

func TestAHostileReplyIsAnAnswerlessTryThatCostsLittle(t *testing.T) {
	const greeting = "-ERR unknown command 'HELLO'\r\n"
	for what, text := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := answered(t, greeting+text)
		runtime.ReadMemStats(&after)
		if !errors.As(err, new(*replyError)) || Answered(err) || reusable(err) || Final(err) {
			t.Errorf("%s: %v", what, err)
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 4*mostOfRuns {
			t.Errorf("%s: %d bytes", what, cost)
		}
	}
}

// Whatever a server says: the bounds judge it alike however it comes, and what they let pass
// neither ends the program nor takes more memory than they say.
func FuzzWhatAServerSays(f *testing.F) {
	f.Add(soundReplies, 3)
	for _, text := range hostile {
		f.Add(text[:min(len(text), 1000)], 1)
	}
	f.Add("*2\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n+OK\r\n", 5)
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole := bounds{most: 1 << 16}
		pieces := whole
		wrong := whole.follow([]byte(text))
		var err error
		for rest := []byte(text); len(rest) > 0 && err == nil; {
			n := min(max(size, 1), len(rest))
			err = pieces.follow(rest[:n])
			rest = rest[n:]
		}
		if (wrong == nil) != (err == nil) {
			t.Fatalf("in one piece %v, in pieces of %d %v", wrong, size, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		answered(t, text)
		if took := time.Since(began); took > locktest.Patience {
			t.Fatalf("it has taken %s", took)
		}
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 6*mostOfRuns {
			t.Fatalf("it has cost %d bytes", cost)
		}
	})
}

// go-redis sets a deadline before each read, also on a connection that has been interrupted
// meanwhile.
func TestAnInterruptedConnectionGetsNoNewDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	locktest.Must(t, err)
	defer l.Close()
	cs := newConns(t.Context(), &Source{}, &inFlight{off: true})
	conn, err := cs.dial(t.Context(), "tcp", l.Addr().String())
	locktest.Must(t, err)
	defer conn.Close()
	cs.end()
	for _, set := range []func(time.Time) error{conn.SetDeadline, conn.SetReadDeadline} {
		locktest.Must(t, set(time.Now().Add(locktest.Patience)))
		began := time.Now()
		if _, err := conn.Read(make([]byte, 1)); err == nil || time.Since(began) > locktest.Patience/2 {
			t.Errorf("read for %s: %v", time.Since(began), err)
		}
	}
	locktest.Must(t, conn.SetWriteDeadline(time.Time{}))
	if _, err := conn.Write([]byte("PING\r\n")); err == nil {
		t.Error("it was written to")
	}
}

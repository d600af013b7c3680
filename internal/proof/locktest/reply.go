package locktest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzReply feeds a reader of replies with whatever a server could send. read must take
// only what it knows, and no less of it: parts are the parts of a reply that says the same.
// recorded are replies of a server, as they went over the wire.
func FuzzReply[R comparable](f *testing.F, read func([]any) (R, error), parts func(R) []any, recorded ...string) {
	for _, wire := range recorded {
		mustReadExactly(f, read, wire)
		f.Add(wire)
	}
	for _, wire := range []string{
		"", "*0\r\n", "*1\r\n$1\r\n1\r\n", "*1\r\n,1\r\n", "*1\r\n*1\r\n:1\r\n", "*1\r\n-ERR x\r\n",
		"*4\r\n:0\r\n:9223372036854775807\r\n$-1\r\n:1\r\n",
	} {
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		var none R
		said, err := read(Reply(wire))
		if err != nil {
			if said != none || len(err.Error()) > 300 {
				t.Errorf("%q: %+v and an error of %d bytes", wire, said, len(err.Error()))
			}
			return
		}
		if again, err := read(parts(said)); again != said || err != nil {
			t.Errorf("%q is read as %+v, and that as %+v, %v", wire, said, again, err)
		}
	})
}

// mustReadExactly checks that a reply is understood, and none that is but a bit different
// in its form.
func mustReadExactly[R comparable](f *testing.F, read func([]any) (R, error), wire string) {
	f.Helper()
	reply := Reply(wire)
	if _, err := read(reply); err != nil {
		f.Fatalf("%q: %v", wire, err)
	}
	strange := [][]any{reply[:len(reply)-1], append(slices.Clone(reply), int64(0)),
		append([]any{int64(99)}, reply[1:]...)}
	for i := range reply {
		for _, other := range []any{nil, 1.0, []any{reply[i]}, true} {
			changed := slices.Clone(reply)
			changed[i] = other
			strange = append(strange, changed)
		}
	}
	for _, other := range strange {
		if said, err := read(other); err == nil {
			f.Errorf("%#v is read as %+v", other, said)
		}
	}
}

// Reply is what a client makes of a reply that went over the wire. It knows more types than
// our servers send, and takes any text for something.
func Reply(wire string) []any {
	w := &wireText{rest: wire}
	if list, ok := w.value(8).([]any); ok {
		return list
	}
	return []any{wire}
}

// A wireText is read value by value.
type wireText struct{ rest string }

func (w *wireText) line() string {
	line, rest, _ := strings.Cut(w.rest, "\r\n")
	w.rest = rest
	return line
}

// value reads the next value, in which lists stand at most depth deep.
func (w *wireText) value(depth int) any {
	line := w.line()
	if line == "" {
		return nil
	}
	text := line[1:]
	n, _ := strconv.ParseInt(text, 10, 64)
	switch line[0] {
	case ':':
		return n
	case ',':
		x, _ := strconv.ParseFloat(text, 64)
		return x
	case '#':
		return text == "t"
	case '$':
		return w.bulk(n)
	case '*':
		return w.list(n, depth-1)
	}
	return text
}

func (w *wireText) bulk(n int64) any {
	if n < 0 {
		return nil
	}
	n = min(n, int64(len(w.rest)))
	text := w.rest[:n]
	w.rest = strings.TrimPrefix(w.rest[n:], "\r\n")
	return text
}

func (w *wireText) list(n int64, depth int) any {
	if depth < 0 {
		return nil
	}
	list := []any{}
	for range n {
		if w.rest == "" {
			break
		}
		list = append(list, w.value(depth))
	}
	return list
}

// PTTL is what a server says of a key that lives for left.
func PTTL(left time.Duration) int64 {
	if left < 0 {
		return -1
	}
	return left.Milliseconds()
}

package link

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

func TestRepliesAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"+OK\r\n": "OK", ":-3\r\n": "-3", "$3\r\na\nb\r\n": "a\nb", "$-1\r\n": "<nil>", "*-1\r\n": "<nil>",
		"*2\r\n$1\r\na\r\n*1\r\n:1\r\n": "[a [1]]", "-NOAUTH x\r\n": "NOAUTH x",
	} {
		if got, err := readReply(bufio.NewReader(strings.NewReader(text)), deepest); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func FuzzRepliesEndWithoutPanicAndWithinBounds(f *testing.F) {
	for _, text := range []string{"", "\r\n", "HTTP/1.1 400 Bad Request\r\n", "$99999999999\r\n", "*1048576\r\n", strings.Repeat("*1\r\n", 10), "$-2\r\n", "$5\r\nab", ":x\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		reply, err := readReply(bufio.NewReader(strings.NewReader(text)), deepest)
		if err == nil && len(fmt.Sprint(reply)) > 2*len(text)+10*strings.Count(text, "\r\n") {
			t.Errorf("%q became %v", text, reply)
		}
	})
}

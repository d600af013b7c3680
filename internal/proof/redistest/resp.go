package redistest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readRequest reads one request as clients send it, and returns its bytes and
// its words.
func readRequest(in *bufio.Reader) (raw []byte, words []string, err error) {
	raw, n, err := readHead(in, '*')
	if err != nil {
		return nil, nil, err
	}
	for range n {
		head, size, err := readHead(in, '$')
		if err != nil {
			return nil, nil, err
		}
		body := make([]byte, size+2)
		if _, err := io.ReadFull(in, body); err != nil {
			return nil, nil, err
		}
		raw = append(append(raw, head...), body...)
		words = append(words, string(body[:size]))
	}
	return raw, words, nil
}

// readHead reads a line of a kind and a number: *3 or $5.
func readHead(in *bufio.Reader, kind byte) (line []byte, n int, err error) {
	if line, err = in.ReadBytes('\n'); err != nil {
		return nil, 0, err
	}
	if n, err = strconv.Atoi(strings.TrimRight(string(line[1:]), "\r\n")); err != nil || line[0] != kind || n < 0 {
		return nil, 0, fmt.Errorf("read request: unexpected line %q", line)
	}
	return line, n, nil
}

// writeRequest appends one request to buf; each word is printed as fmt prints it.
func writeRequest(buf []byte, words ...any) []byte {
	buf = fmt.Appendf(buf, "*%d\r\n", len(words))
	for _, w := range words {
		s := fmt.Sprint(w)
		buf = fmt.Appendf(buf, "$%d\r\n%s\r\n", len(s), s)
	}
	return buf
}

// A replyError is an error that the server answered.
type replyError string

func (e replyError) Error() string { return string(e) }

// readReply reads one RESP2 reply: a string, an int64, a []any, nil or a replyError.
func readReply(in *bufio.Reader) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	switch kind, rest := line[0], line[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return nil, replyError(rest)
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$', '*':
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, err
		}
		if kind == '*' {
			return readList(in, n)
		}
		body := make([]byte, n+2)
		_, err = io.ReadFull(in, body)
		return string(body[:n]), err
	}
	return nil, fmt.Errorf("read reply: unexpected line %q", line)
}

// readList reads the n parts of a list; a part that is an error stays one.
func readList(in *bufio.Reader, n int) (any, error) {
	list := make([]any, n)
	for i := range list {
		v, err := readReply(in)
		if refused, ok := err.(replyError); ok {
			v, err = refused, nil
		}
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

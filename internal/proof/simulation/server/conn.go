package server

import (
	"bytes"
	"slices"
	"strconv"
)

// A Conn is a client's connection.
type Conn struct {
	server   *Server
	id       int
	push     func([]byte)
	in       []byte // of a command that has not arrived as a whole
	channels []string
	patterns []string
	closed   bool
	name     string
}

// Connect is a new connection. Messages of channels to which it subscribes are given to push, each as a
// whole, while the command that sends them is executed; push may keep the bytes, and calls nothing of the server.
func (s *Server) Connect(push func([]byte)) *Conn {
	s.ids++
	c := &Conn{server: s, id: s.ids, push: push}
	s.conns = append(s.conns, c)
	return c
}

// Feed executes the commands of which the last byte has arrived, and returns the replies in their order. What is
// no command, QUIT, and a connection that has ended before are answered by the end of the connection: see Closed.
func (c *Conn) Feed(b []byte) []byte {
	if c.closed {
		return nil
	}
	c.in = append(c.in, b...)
	var out []byte
	for !c.closed {
		words, size, err := next(c.in)
		if err != nil {
			c.Close()
			return fault("ERR Protocol error: %s", err).append(out)
		}
		if size == 0 {
			break
		}
		c.in = c.in[size:]
		if len(words) > 0 {
			out = c.server.execute(c, words).append(out)
		}
	}
	return out
}

// Closed reports whether the connection has ended: closed by the client, by the server, or by its restart.
func (c *Conn) Closed() bool { return c.closed }

// Close ends the connection. May be repeated.
func (c *Conn) Close() {
	if c.closed {
		return
	}
	c.closed = true
	for _, channel := range slices.Clone(c.channels) {
		c.unsubscribe(channel)
	}
	c.patterns = nil
	i := slices.Index(c.server.conns, c)
	c.server.conns = slices.Delete(c.server.conns, i, i+1)
}

// A parseError says why bytes are no command.
type parseError string

func (e parseError) Error() string { return string(e) }

// next takes the first command, and how many bytes it has; 0 if its end has not arrived.
func next(in []byte) (words []string, size int, err error) {
	n, rest, err := head(in, '*')
	if rest == nil || err != nil {
		return nil, 0, err
	}
	words = make([]string, 0, min(max(n, 0), 1024))
	for range n {
		var length int
		if length, rest, err = head(rest, '$'); rest == nil || err != nil {
			return nil, 0, err
		}
		if length < 0 {
			return nil, 0, parseError("invalid bulk length")
		}
		if len(rest) < length+2 {
			return nil, 0, nil
		}
		words = append(words, string(rest[:length]))
		rest = rest[length+2:]
	}
	return words, len(in) - len(rest), nil
}

// head reads a line of a kind and a number; rest is nil if its end has not arrived.
func head(in []byte, kind byte) (n int, rest []byte, err error) {
	if len(in) == 0 {
		return 0, nil, nil
	}
	if in[0] != kind {
		return 0, nil, parseError("expected '" + string(kind) + "', got '" + string(in[0]) + "'")
	}
	end := bytes.IndexByte(in, '\n')
	if end < 0 {
		return 0, nil, nil
	}
	n, err = strconv.Atoi(string(bytes.TrimSuffix(in[1:end], []byte("\r"))))
	if err != nil {
		return 0, nil, parseError("invalid length")
	}
	return n, in[end+1:], nil
}

package link

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
)

// mostReply bounds what is read of one answer, in bytes, and deepest how far
// lists may stand in lists.
const (
	mostReply = 1 << 20
	deepest   = 4
)

// flight sends requests together over conn and returns a reply for each: a
// string, an int64, a []any, nil or a *rejection.
func flight(ctx context.Context, conn net.Conn, requests ...[]byte) ([]any, error) {
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(past) })()
	for _, r := range requests {
		if _, err := conn.Write(r); err != nil {
			return nil, causeOf(ctx, err)
		}
	}
	in := bufio.NewReader(io.LimitReader(conn, mostReply))
	replies := make([]any, len(requests))
	for i := range replies {
		reply, err := readReply(in, deepest)
		if err != nil {
			return nil, causeOf(ctx, err)
		}
		replies[i] = reply
	}
	return replies, nil
}

// causeOf is why ctx has ended, if that is what err comes from.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

var errNotRedis = errors.New("read reply: it is not Redis's protocol")

func readReply(in *bufio.Reader, depth int) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || line == "" {
		return nil, errNotRedis
	}
	switch rest := line[1:]; line[0] {
	case '+':
		return rest, nil
	case '-':
		return ReadRefusal(rest, ""), nil
	case ':':
		n, err := strconv.ParseInt(rest, 10, 64)
		return n, err
	case '$':
		return readBulk(in, rest)
	case '*':
		return readList(in, rest, depth-1)
	}
	return nil, errNotRedis
}

func readBulk(in *bufio.Reader, size string) (any, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n > mostReply {
		return nil, errNotRedis
	}
	if n < 0 {
		return nil, nil
	}
	body := make([]byte, n+2)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	return string(body[:n]), nil
}

func readList(in *bufio.Reader, size string, depth int) (any, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n > mostReply || depth < 0 {
		return nil, errNotRedis
	}
	if n < 0 {
		return nil, nil
	}
	var list []any
	for range n {
		part, err := readReply(in, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, part)
	}
	return list, nil
}

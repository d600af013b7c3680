package server

import (
	"fmt"
	"strconv"
)

// The kinds of replies: the first byte of each, as RESP2 has it.
const (
	status  = '+'
	failure = '-'
	integer = ':'
	bulk    = '$'
	array   = '*'
	none    = '_' // a bulk that is not there
	nothing = 0   // no reply at all
	ready   = '=' // bytes as they are sent: several replies to one command
)

// A reply is what a command answers.
type reply struct {
	kind byte
	n    int64
	text string
	list []reply
}

var ok = reply{kind: status, text: "OK"}

func number(n int) reply         { return reply{kind: integer, n: int64(n)} }
func text(s string) reply        { return reply{kind: bulk, text: s} }
func several(list []reply) reply { return reply{kind: array, list: list} }
func missing() reply             { return reply{kind: none} }
func fault(format string, args ...any) reply {
	return reply{kind: failure, text: oneLine(fmt.Sprintf(format, args...))}
}

func texts(list []string) reply {
	out := make([]reply, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return several(out)
}

// count is 1 for true.
func count(b bool) reply {
	if b {
		return number(1)
	}
	return number(0)
}

// append adds the bytes that are sent.
func (r reply) append(out []byte) []byte {
	switch r.kind {
	case nothing:
		return out
	case ready:
		return append(out, r.text...)
	case none:
		return append(out, "$-1\r\n"...)
	case status, failure:
		out = append(append(out, r.kind), r.text...)
	case integer:
		out = strconv.AppendInt(append(out, ':'), r.n, 10)
	case bulk:
		out = strconv.AppendInt(append(out, '$'), int64(len(r.text)), 10)
		out = append(append(out, "\r\n"...), r.text...)
	case array:
		out = strconv.AppendInt(append(out, '*'), int64(len(r.list)), 10)
		out = append(out, "\r\n"...)
		for _, part := range r.list {
			out = part.append(out)
		}
		return out
	}
	return append(out, "\r\n"...)
}

// plain is the reply as Go has it: a string, an int64, a []any, nil, or an [Error] in a list.
func (r reply) plain() any {
	switch r.kind {
	case integer:
		return r.n
	case status, bulk:
		return r.text
	case failure:
		return Error(r.text)
	case array:
		list := make([]any, len(r.list))
		for i, part := range r.list {
			list[i] = part.plain()
		}
		return list
	}
	return nil
}

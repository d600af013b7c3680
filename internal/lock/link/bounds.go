package link

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

const (
	// mostOfRuns and mostOfLooks bound a reply, in bytes of memory. Of what a run asks, the
	// slots of a large Cluster in pieces have the longest reply: some 3 MB for 5,000 ranges.
	// Of what an operator asks, a piece of the keyspace has: 5,000 keys of 4 KiB.
	mostOfRuns  = 8 << 20
	mostOfLooks = 64 << 20

	// mostLine bounds a line: a refusal, a number, a length.
	mostLine = 64 << 10

	// mostDepth bounds lists in lists. Ours go down to 5.
	mostDepth = 16

	// perPart is the cost of each part of a list before it arrives.
	perPart = 16
)

// A replyError says that a reply is larger than any that is an answer, or none at all.
type replyError struct{ problem string }

func (e *replyError) Error() string { return "read reply: " + e.problem }

// bounds follow the replies that come over one connection (RESP2), before go-redis sees
// them: it believes each length that it reads, and takes so much memory at once.
type bounds struct {
	most int // of a reply, in bytes
	left int // of the one that is coming
	err  error

	missing [mostDepth]int // parts of the lists that are open, the innermost last
	depth   int
	skip    int      // bytes of a text that have yet to come, with the end of its line
	line    [24]byte // how the line begins that is coming
	length  int      // of that line so far
	last    byte     // of that line so far
}

// follow reads on. The caller must not read any part of a chunk that it refuses.
func (b *bounds) follow(chunk []byte) error {
	for b.err == nil && len(chunk) > 0 {
		n := min(b.skip, len(chunk))
		if b.skip > 0 {
			if b.skip -= n; b.skip == 0 {
				b.next()
			}
		} else if n = bytes.IndexByte(chunk, '\n'); n >= 0 {
			n++
			b.extend(chunk[:n])
			b.complete()
		} else {
			n = len(chunk)
			b.extend(chunk)
		}
		chunk = chunk[n:]
	}
	return b.err
}

// extend adds to the line. A line begins with its kind. Those of RESP3, which we do not
// speak, count their parts in other ways.
func (b *bounds) extend(part []byte) {
	if b.length == 0 {
		if b.depth == 0 {
			b.left = b.most
		}
		if strings.IndexByte("%~>|=!(_#,", part[0]) >= 0 {
			b.refuse("it uses RESP3, which redlockrun did not request")
			return
		}
	}
	if b.length+len(part) > min(mostLine, b.left) {
		b.refuse(fmt.Sprintf("a line is longer than %d bytes", min(mostLine, b.left)))
		return
	}
	if b.length < len(b.line) {
		copy(b.line[b.length:], part)
	}
	b.length += len(part)
	if n := len(part); part[n-1] != '\n' {
		b.last = part[n-1]
	} else if n > 1 {
		b.last = part[n-2]
	}
}

// complete reads the line.
func (b *bounds) complete() {
	length := b.length
	b.length = 0
	switch {
	case b.err != nil:
		return
	case length < 3 || b.last != '\r':
		b.refuse("a line has no end")
		return
	}
	b.left -= length
	kind := b.line[0]
	if kind != '$' && kind != '*' {
		b.next()
		return
	}
	n, err := strconv.Atoi(string(b.line[1:max(1, min(length-2, len(b.line)))]))
	switch {
	case err != nil || n < -1 || length > len(b.line):
		b.refuse("a length is not a number")
	case kind == '$':
		b.expect(n)
	default:
		b.open(n)
	}
}

// expect begins a text of n bytes; -1 is none.
func (b *bounds) expect(n int) {
	switch {
	case n < 0:
		b.next()
	case n > b.left:
		b.refuse(fmt.Sprintf("a text of %d bytes is too long", n))
	default:
		b.left -= n
		b.skip = n + 2
	}
}

// open begins a list of n parts; -1 is none.
func (b *bounds) open(n int) {
	switch {
	case n <= 0:
		b.next()
	case n > b.left/perPart:
		b.refuse(fmt.Sprintf("a list of %d parts is too long", n))
	case b.depth == mostDepth:
		b.refuse(fmt.Sprintf("lists are nested more than %d deep", mostDepth))
	default:
		b.left -= n * perPart
		b.missing[b.depth] = n
		b.depth++
	}
}

// next goes on behind a part, and behind each list whose last part it was.
func (b *bounds) next() {
	for b.depth > 0 {
		if b.missing[b.depth-1]--; b.missing[b.depth-1] > 0 {
			return
		}
		b.depth--
	}
}

func (b *bounds) refuse(problem string) { b.err = &replyError{problem} }

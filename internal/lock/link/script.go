package link

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/wire"

	"github.com/redis/go-redis/v9"
)

// A Script is a program that a server runs as one atomic step. R is its answer. EVAL
// and not EVALSHA: a run uses most scripts once, and a server that has forgotten its
// scripts needs no care.
type Script[R any] struct {
	Text func() string // as it is sent, assembled when it is first needed: a run needs few of the scripts
	bare string
	read func(*Reply) R
}

// NewScript is a script made of parts, whose reply read takes apart. bare is the command whose
// refusal the script answers as it is: no line of the script is named then.
func NewScript[R any](bare string, read func(*Reply) R, parts ...string) Script[R] {
	return Script[R]{sync.OnceValue(func() string { return Assemble(parts...) }), bare, read}
}

// Read reads a reply. After its error it is unknown what the script has done:
// the script sends no such reply.
func (s Script[R]) Read(reply []any) (R, error) { return read(reply, s.read) }

// answer reads a server's answer to the script.
func (s Script[R]) answer(done *redis.Cmd) (R, error) {
	parts, err := done.Slice()
	if err != nil {
		var none R
		return none, understood(err, s.refusal)
	}
	return s.Read(parts)
}

// refusal reads what was answered in place of a reply.
func (s Script[R]) refusal(raw string) *rejection { return readRefusal(raw, s.Text(), s.bare) }

// Eval has the script run once, within ctx; what a Cluster sends on is still run once. The
// end of ctx, by cancel too, ends it at once. sent reports whether the request can have
// reached a server.
func (s Script[R]) Eval(ctx context.Context, l *Link, keys []string, args ...any) (reply R, sent bool, err error) {
	sent, err = l.ask(ctx, func(c client) (err error) {
		reply, err = s.answer(c.Eval(ctx, s.Text(), keys, args...))
		return err
	})
	return reply, sent, err
}

// EvalAndWait is like Eval, and in the same round trip waits for up to patience until as
// many replicas as are enough have what has been written: n have it.
func (s Script[R]) EvalAndWait(ctx context.Context, l *Link, enough int, patience time.Duration, keys []string,
	args ...any) (
	reply R, n int64, err error) {
	_, err = l.ask(ctx, func(c client) error {
		p := c.Pipeline()
		if _, ok := c.(asking); ok {
			p.Do(ctx, "ASKING")
		}
		done := p.Eval(ctx, s.Text(), keys, args...)
		waited := p.Do(ctx, "WAIT", enough, lock.Milliseconds(patience))
		p.Exec(ctx) // each command has its own error
		var err error
		if reply, err = s.answer(done); err != nil {
			return err
		}
		n, err = waited.Int64()
		return err
	})
	return reply, n, err
}

// Assemble puts a script together from its parts, without what only their readers need, and with the numbers of
// [wire.Number] in the place of their names.
func Assemble(parts ...string) string {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	var out strings.Builder
	out.Grow(size) // in one piece: each page that is touched costs a microsecond or two
	for _, part := range parts {
		for line := range strings.Lines(part) {
			code, _, _ := strings.Cut(line, "--")
			if code = strings.TrimSpace(code); code != "" {
				writeNumbered(&out, code)
				out.WriteByte('\n')
			}
		}
	}
	return out.String()
}

// writeNumbered writes a line of code with its numbers.
func writeNumbered(out *strings.Builder, code string) {
	for {
		before, named, found := strings.Cut(code, "WIRE.")
		out.WriteString(before)
		if !found {
			return
		}
		end := strings.IndexFunc(named, func(r rune) bool { return !unicode.IsLetter(r) })
		if end < 0 {
			end = len(named)
		}
		out.WriteString(wire.Number(named[:end]))
		code = named[end:]
	}
}

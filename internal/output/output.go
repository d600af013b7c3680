// Package output keeps the end of a command's stdout and stderr, and changes nothing else about
// these streams.
//
// The treatment depends on the kind of a stream. A terminal is left alone: a program behaves
// differently on any other file. A regular file stays the command's own; its end is read back
// afterwards. A FIFO, a stream socket and a character device are replaced by a pipe, from which
// every byte is copied in order. Sockets that keep message boundaries are left alone, and so are
// all other files.
package output

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// stragglers is how long End waits for processes that outlive the command, such as the tee of a
// shell's >(tee log).
const stragglers = 100 * time.Millisecond

// A Tap keeps the last bytes of a command's output. One goroutine calls its methods, except
// Insert, which any goroutine may call.
type Tap struct {
	stdout, stderr *stream
	recent         *ring
	pipes          []*pipe
	files          []*file
}

// New taps stdout and stderr; nil is this process's own descriptor. It keeps at most size bytes of
// both together. The files stay the caller's: they are not closed, and their flags do not change.
func New(stdout, stderr *os.File, size int) (*Tap, error) {
	t := &Tap{recent: newRing(size)}
	var err error
	if t.stdout, err = newStream(stdout, 1); err != nil {
		return nil, err
	}
	if t.stderr, err = newStream(stderr, 2); err != nil {
		t.stdout.close()
		return nil, err
	}
	if err := t.connect(); err != nil {
		t.abandon()
		return nil, err
	}
	for _, p := range t.pipes {
		go p.copy()
	}
	t.Begin()
	return t, nil
}

// connect gives each stream its pipe or file. Two streams of one file keep their order: they share
// a pipe.
func (t *Tap) connect() error {
	for _, s := range []*stream{t.stdout, t.stderr} {
		if s == t.stderr && t.stdout.sharesWith(s) {
			s.pipe = t.stdout.pipe
			continue
		}
		switch s.kind {
		case regular:
			t.files = append(t.files, &file{stream: s})
		case copied:
			p, err := newPipe(s, t.recent)
			if err != nil {
				return err
			}
			s.pipe = p
			t.pipes = append(t.pipes, p)
		}
	}
	return nil
}

// abandon closes the files that New has opened.
func (t *Tap) abandon() {
	for _, p := range t.pipes {
		p.closeEnds()
	}
	t.Close()
}

// Stdout returns the command's stdout: a pipe, or the file that New got.
func (t *Tap) Stdout() *os.File { return t.stdout.forCommand() }

// Stderr returns the command's stderr: a pipe, or the file that New got.
func (t *Tap) Stderr() *os.File { return t.stderr.forCommand() }

// Threads returns how many threads a write may block while the command runs.
func (t *Tap) Threads() int { return len(t.pipes) }

// Begin starts the record anew, right before a command is started. The output of an earlier
// attempt is still copied, but not kept.
func (t *Tap) Begin() {
	for _, p := range t.pipes {
		p.begin()
	}
	t.recent.reset()
	for _, f := range t.files {
		f.begin()
	}
}

// End reads the pipes to their end after the last command has ended: for at most 100 ms, and at most
// what a pipe holds. Then it closes them, so that a process left behind gets SIGPIPE or EPIPE at
// its next write. It reports whether there is such a process. It does not wait for the reader of the
// output: Flush does.
func (t *Tap) End() (left bool) {
	until := time.Now().Add(stragglers)
	var all sync.WaitGroup
	for _, p := range t.pipes {
		all.Go(func() { p.end(until) })
	}
	all.Wait()
	for _, p := range t.pipes {
		left = left || p.left
	}
	return left
}

// Holders returns the processes that still have one of the pipes open, as far as /proc shows them.
// It stops looking when ctx ends.
func (t *Tap) Holders(ctx context.Context) []int { return holders(ctx, t.pipes) }

// Flush waits after End until everything has been written to the original streams, for as long as
// their readers take, or until ctx ends. The error says why some of the output was not written.
func (t *Tap) Flush(ctx context.Context) error {
	var failed []error
	for _, p := range t.pipes {
		failed = append(failed, p.flush(ctx))
	}
	return errors.Join(failed...)
}

// Close closes the tap's own descriptors of the original streams, after Tail and a complete Flush.
// A process that ends need not call it.
func (t *Tap) Close() {
	t.stdout.close()
	t.stderr.close()
}

// Insert calls write, which writes to stderr, between two lines of the command. It does not wait
// longer than insertPatience for the end of a line, so write may come within one; but it never
// comes within a write.
func (t *Tap) Insert(write func()) {
	if p := t.stderr.pipe; p != nil {
		p.to.insert(write)
		return
	}
	write()
}

// A Tail is the end of a command's output.
type Tail struct {
	Text  []byte
	Total int64 // bytes written in all
	Err   error // why a part is missing
}

// Tail returns the bytes that were kept since Begin. If stdout and stderr have no common order,
// the end of stdout stands before the end of stderr, and each gets at least half of the room.
func (t *Tap) Tail() Tail {
	size := t.recent.size
	var parts []Tail
	add := func(part Tail) { parts = append(parts, part) }
	if len(t.pipes) > 0 {
		add(t.recent.tail())
	}
	for _, f := range t.files {
		add(f.tail(size))
	}
	if len(parts) == 2 && t.stderr.pipe != nil { // stdout is the file
		parts[0], parts[1] = parts[1], parts[0]
	}
	return merge(parts, size)
}

// merge puts at most two parts into size bytes.
func merge(parts []Tail, size int) (all Tail) {
	room := [2]int{size, size}
	if len(parts) == 2 {
		room[0] = max(size/2, size-len(parts[1].Text))
		room[1] = size - min(room[0], len(parts[0].Text))
	}
	for i, part := range parts {
		cut := max(0, len(part.Text)-room[i])
		all.Text = append(all.Text, part.Text[cut:]...)
		all.Total += part.Total
		all.Err = errors.Join(all.Err, part.Err)
	}
	return all
}

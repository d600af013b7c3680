package output

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bufferSize is the usual capacity of a pipe: one read then gets whole writes.
const bufferSize = 64 << 10

// drainSize is how many bytes end reads at a time, at least. Mostly there are none.
const drainSize = 4 << 10

// A pipe replaces an original stream. A goroutine reads it and writes to the original, by turns,
// so that a slow reader of the original slows down the command.
//
// Its writing end stays open in this process, for further attempts; so it has no end of file
// before end.
type pipe struct {
	read, write *os.File
	conn        syscall.RawConn // of read
	to          *destination
	recent      *ring
	inode       uint64

	done chan struct{} // closed when nothing more is written
	left bool          // a process had it open after end

	drained chan struct{} // closed when rest is complete

	mu       sync.Mutex
	over     bool   // the copying goroutine reads no more
	old      int    // so many of the next bytes were there before begin
	rest     []byte // bytes that end has read, still to be written
	complete bool   // everything was written
	err      error  // why a part was not written
}

func newPipe(s *stream, recent *ring) (*pipe, error) {
	// A device may take each write as a message, as /dev/kmsg does.
	read, write, err := makePipe(s.isDevice() && !s.isNull())
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	p := &pipe{
		to: newDestination(s), recent: recent,
		done: make(chan struct{}), drained: make(chan struct{}),
		write: os.NewFile(uintptr(write), "pipe"),
	}
	var stat unix.Stat_t
	if err = unix.Fstat(read, &stat); err == nil {
		p.inode = stat.Ino
		err = unix.SetNonblock(read, true)
	}
	p.read = os.NewFile(uintptr(read), "pipe") // non-blocking, so that it waits without a thread
	if err == nil {
		p.conn, err = p.read.SyscallConn()
	}
	if err != nil {
		p.closeEnds()
		return nil, fmt.Errorf("prepare pipe: %w", err)
	}
	return p, nil
}

func (p *pipe) closeEnds() {
	_ = p.write.Close()
	_ = p.read.Close()
}

// copy goes on until end, or until the original cannot be written to.
func (p *pipe) copy() {
	defer close(p.done)
	defer p.to.finish()
	defer onHangup(p.to.stream, func() { p.fail(fmt.Errorf("write output of the command: %w", unix.EPIPE)) })()
	buffer := make([]byte, bufferSize)
	for {
		data := p.next(buffer)
		if len(data) == 0 {
			p.finish()
			return
		}
		if err := p.to.write(data); err != nil {
			p.fail(err)
			return
		}
	}
}

// finish records that everything was written, unless something failed.
func (p *pipe) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete = p.err == nil
}

// fail closes the pipe, so that the command's next write fails as it would on the original. The
// bytes in the pipe do not reach the original, but are kept.
func (p *pipe) fail(err error) {
	p.mu.Lock()
	if p.err == nil && !p.complete {
		p.err = err
	}
	p.over = true
	_ = p.conn.Control(func(fd uintptr) {
		last := make([]byte, waiting(int(fd)))
		n, _ := readSome(int(fd), last)
		p.keep(last[:max(n, 0)])
	})
	p.mu.Unlock()
	_ = p.read.Close() // would wait for a user that holds the lock
}

// next waits for bytes. It returns none at the end.
func (p *pipe) next(buffer []byte) []byte {
	n := 0
	err := p.conn.Read(func(fd uintptr) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.over {
			return true
		}
		var err error
		n, err = readSome(int(fd), buffer)
		n = max(n, 0)
		p.keep(buffer[:n])
		return err != unix.EAGAIN
	})
	if err == nil && n > 0 {
		return buffer[:n]
	}
	return p.takeRest()
}

// takeRest waits for end, and returns the bytes that end has read, once.
func (p *pipe) takeRest() []byte {
	<-p.drained
	rest := p.rest
	p.rest = nil
	return rest
}

// keep records bytes that have been read. The caller has p.mu.
func (p *pipe) keep(data []byte) {
	old := min(p.old, len(data))
	p.old -= old
	p.recent.add(data[old:])
}

// begin marks the bytes in the pipe as old.
func (p *pipe) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.conn.Control(func(fd uintptr) { p.old = waiting(int(fd)) })
}

// stop ends the reading of the copying goroutine.
func (p *pipe) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// end reads the rest and closes the pipe.
func (p *pipe) end(until time.Time) {
	p.stop()
	_ = p.write.Close()
	_ = p.conn.Control(func(fd uintptr) { p.drain(int(fd), until) }) // not if the original has failed, and it is closed
	close(p.drained)
	_ = p.read.Close()
}

// drain reads to the end of file, but not after until, and no more than the pipe can hold: the
// command itself can have left no more there.
func (p *pipe) drain(fd int, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := capacity(fd)
	for {
		room := limit - len(p.rest)
		events, err := awaitReadable(fd, until, room == 0)
		p.left = events&unix.POLLHUP == 0
		if err != nil || events&unix.POLLIN == 0 || room == 0 {
			return
		}
		before := len(p.rest)
		p.rest = slices.Grow(p.rest, min(room, drainSize))
		n, err := readSome(fd, p.rest[before:min(cap(p.rest), limit)])
		if n <= 0 || err != nil {
			return
		}
		p.rest = p.rest[:before+n]
		p.keep(p.rest[before:])
	}
}

// awaitReadable waits until a pipe has bytes or no writer, but not after until, nor if atOnce.
func awaitReadable(fd int, until time.Time, atOnce bool) (events int16, err error) {
	for {
		wait := max(0, time.Until(until))
		if atOnce {
			wait = 0
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err = unix.Poll(fds, int((wait+time.Millisecond-1)/time.Millisecond))
		if err != unix.EINTR {
			return fds[0].Revents, err
		}
	}
}

func readSome(fd int, buffer []byte) (n int, err error) {
	for {
		if n, err = unix.Read(fd, buffer); err != unix.EINTR {
			return n, err
		}
	}
}

// flush waits until nothing more is written, or ctx ends.
func (p *pipe) flush(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && !p.complete {
		return context.Cause(ctx)
	}
	return p.err
}

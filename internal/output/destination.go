package output

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// insertPatience is how long a message waits for the end of the line that is being written.
const insertPatience = 50 * time.Millisecond

// A destination is an original stream as the copying goroutine writes to it. Its file status
// flags are shared with other processes and never changed: if it is non-blocking, poll(2) waits.
type destination struct {
	stream *stream
	atomic int // writes of so many bytes are not mixed with other writers' bytes; 0: there is no such number

	mu      sync.Mutex
	lineEnd sync.Cond
	within  bool // a line has begun and not ended
	over    bool // nothing follows
}

func newDestination(s *stream) *destination {
	d := &destination{stream: s}
	if s.isFIFO() {
		d.atomic = pipeBuf
	}
	d.lineEnd.L = &d.mu
	return d
}

// write writes all of data.
func (d *destination) write(data []byte) error {
	for len(data) > 0 {
		n := d.unit(data)
		if err := d.writeUnit(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// unit returns how many bytes of data go into the next write: as many whole lines as stay
// together, or the whole of one long line.
func (d *destination) unit(data []byte) int {
	if d.atomic == 0 || len(data) <= d.atomic {
		return len(data)
	}
	if last := bytes.LastIndexByte(data[:d.atomic], '\n'); last >= 0 {
		return last + 1
	}
	if first := bytes.IndexByte(data[d.atomic:], '\n'); first >= 0 {
		return d.atomic + first + 1
	}
	return len(data)
}

func (d *destination) writeUnit(data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.within = data[len(data)-1] != '\n'
	if !d.within {
		defer d.lineEnd.Broadcast()
	}
	for len(data) > 0 {
		n, err := unix.Write(d.stream.fd, data)
		switch err {
		case nil:
			data = data[n:]
		case unix.EINTR:
		case unix.EAGAIN: // another process made the shared open file non-blocking
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(d.stream.fd), Events: unix.POLLOUT}}, -1)
		default:
			return fmt.Errorf("write output of the command: %w", err)
		}
	}
	return nil
}

// finish records that nothing more is written.
func (d *destination) finish() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	d.lineEnd.Broadcast()
}

// insert calls write at the end of a line, or when waiting for that takes too long.
func (d *destination) insert(write func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.within && !d.over {
		late := false
		defer time.AfterFunc(insertPatience, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			late = true
			d.lineEnd.Broadcast()
		}).Stop()
		for d.within && !d.over && !late {
			d.lineEnd.Wait()
		}
	}
	write()
}

package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A file is a stream that the command writes by itself.
type file struct {
	stream *stream
	start  int64 // its size when the command was started
}

func (f *file) begin() { f.start, _ = f.size() }

func (f *file) size() (int64, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(f.stream.fd, &stat); err != nil {
		return 0, fmt.Errorf("examine output file: %w", err)
	}
	return stat.Size, nil
}

// tail reads the last bytes that were added since begin, those of other writers included. A file
// that is shorter than before has been truncated, and all of it is new.
func (f *file) tail(most int) Tail {
	size, err := f.size()
	if err != nil {
		return Tail{Err: err}
	}
	start := f.start
	if size < start {
		start = 0
	}
	t := Tail{Total: size - start}
	if t.Total == 0 {
		return t
	}
	text := make([]byte, min(int64(most), t.Total))
	n, err := f.readAt(text, size-int64(len(text)))
	t.Text = text[:n]
	if err != nil && !errors.Is(err, io.EOF) { // it may have been truncated right now
		t.Err = fmt.Errorf("read output file: %w", err)
	}
	return t
}

// readAt opens the file again, for reading. That works for an append-only descriptor, and for a
// file without a name. It does not use the descriptor's position.
func (f *file) readAt(text []byte, at int64) (int, error) {
	path := descriptors + strconv.Itoa(f.stream.fd)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	again := os.NewFile(uintptr(fd), "output file")
	defer again.Close()
	return again.ReadAt(text, at)
}

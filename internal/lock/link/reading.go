package link

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// mostFile bounds what is read of a file, in bytes: a bundle of all public authorities
	// has a quarter of that.
	mostFile = 1 << 20

	// freshRead is for how long what a slow read has found is given to the next caller.
	freshRead = 1500 * time.Millisecond
)

var (
	errUnread  = errors.New("it was not read in time")
	errNoFile  = errors.New("it is not a regular file")
	errTooLong = errors.New("it is larger than 1 MiB")
)

// A reading is one read of a file. The kernel may never end it: on a network file system
// whose server is gone, nothing interrupts it. So it has a goroutine of its own, which is
// left behind then. Callers that come meanwhile share it: there is one at a time per file.
type reading struct {
	done  chan struct{} // closed at its end
	text  []byte
	err   error
	once  bool      // the file can be read only once
	ended time.Time // when, if a caller stopped waiting for that

	late bool // a caller stopped waiting for it
}

// readings are the reads that callers may share, by path: those under way, those that ended
// late, and those that cannot be repeated.
var readings = struct {
	sync.Mutex
	of map[string]*reading
}{of: make(map[string]*reading)}

// readFile reads a file within ctx. Its error is errUnread if the file system has not
// answered in time; while it is known to be silent, at once.
func readFile(ctx context.Context, path string) ([]byte, error) {
	r, late := readingOf(path)
	select {
	case <-r.done:
		return r.text, r.err
	default:
	}
	if late {
		return nil, errUnread
	}
	select {
	case <-r.done:
		return r.text, r.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			readings.Lock()
			defer readings.Unlock()
			r.late = true
		}
		return nil, errUnread
	}
}

// readingOf is the read under way, one whose result still counts, or a new one. late says
// that an earlier caller stopped waiting for it.
func readingOf(path string) (r *reading, late bool) {
	readings.Lock()
	defer readings.Unlock()
	if r = readings.of[path]; r != nil {
		if r.ended.IsZero() || r.once {
			return r, r.late
		}
		delete(readings.of, path)
		if time.Since(r.ended) < freshRead {
			return r, false
		}
	}
	r = &reading{done: make(chan struct{})}
	readings.of[path] = r
	go r.complete(path)
	return r, false
}

func (r *reading) complete(path string) {
	text, once, err := readNow(path)
	readings.Lock()
	defer readings.Unlock()
	r.text, r.once, r.err, r.ended = text, once, err, time.Now()
	if !r.once && !r.late {
		delete(readings.of, path)
	}
	close(r.done)
}

// readNow reads a regular file, or a pipe or device behind a descriptor of this process. It would wait
// for a writer of any other pipe. once means that reading it again would not find the same.
func readNow(path string) (text []byte, once bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	mode := info.Mode()
	if !mode.IsRegular() && mode&fs.ModeCharDevice == 0 && (mode&fs.ModeNamedPipe == 0 || !isDescriptor(path)) {
		return nil, false, errNoFile
	}
	text, err = io.ReadAll(io.LimitReader(f, mostFile+1))
	if err == nil && len(text) > mostFile {
		text, err = nil, errTooLong
	}
	return text, !mode.IsRegular() && isDescriptor(path), err
}

// isDescriptor reports whether a path leads to an open file of this process, as a shell's
// <(...) does.
func isDescriptor(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

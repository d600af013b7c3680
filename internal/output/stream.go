package output

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A kind says how a stream is treated.
type kind int

const (
	alone   kind = iota // the command has it as it is, and nothing is kept
	regular             // the command has it as it is, and its end is read back
	copied              // the command has a pipe that is copied to it
)

// A stream is stdout or stderr of the caller.
type stream struct {
	given *os.File // nil: this process's own descriptor
	fd    int      // a second descriptor of it; -1 if it is left alone
	kind  kind
	stat  unix.Stat_t
	flags int   // the file status flags, see fcntl(2)
	pipe  *pipe // what replaces it; nil if nothing does
}

// newStream examines a file, or this process's own descriptor number if it is nil.
func newStream(given *os.File, number int) (*stream, error) {
	s := &stream{given: given, fd: -1}
	if given == nil {
		return s, s.examine(number)
	}
	raw, err := given.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("examine %s: %w", given.Name(), err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = s.examine(int(fd)) }); err != nil {
		return nil, fmt.Errorf("examine %s: %w", given.Name(), err)
	}
	return s, failed
}

// examine determines the kind of fd, and makes a second descriptor if needed. It leaves a
// descriptor alone that it cannot examine: the command then gets the same error as without
// redlockrun.
func (s *stream) examine(fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || unix.Fstat(fd, &s.stat) != nil {
		return nil
	}
	s.flags, s.kind = flags, kindOf(fd, flags, &s.stat)
	if s.kind == alone {
		return nil
	}
	s.fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		s.fd = -1
		return fmt.Errorf("duplicate descriptor %d: %w", fd, err)
	}
	return nil
}

func kindOf(fd, flags int, stat *unix.Stat_t) kind {
	if flags&unix.O_ACCMODE == unix.O_RDONLY {
		return alone // a write fails with EBADF
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return regular
	case unix.S_IFIFO:
		return copied
	case unix.S_IFCHR:
		if !term.IsTerminal(fd) {
			return copied
		}
	case unix.S_IFSOCK:
		if kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err == nil && kind == unix.SOCK_STREAM {
			return copied
		}
	}
	return alone
}

// sharesWith reports whether two streams are one file, so that the order of the writes to them
// matters.
func (s *stream) sharesWith(other *stream) bool {
	if s.kind != other.kind || s.kind == alone || s.stat.Dev != other.stat.Dev || s.stat.Ino != other.stat.Ino {
		return false
	}
	if s.kind == regular || s.isFIFO() || s.isNull() { // opened twice, as by 2>/dev/stdout, it is still the same
		return true
	}
	if same, err := sameOpenFile(s.fd, other.fd); err == nil {
		return same
	}
	return s.flags == other.flags
}

func (s *stream) isFIFO() bool   { return s.stat.Mode&unix.S_IFMT == unix.S_IFIFO }
func (s *stream) isDevice() bool { return s.stat.Mode&unix.S_IFMT == unix.S_IFCHR }

// isNull reports whether it is /dev/null.
func (s *stream) isNull() bool {
	var null unix.Stat_t
	return s.isDevice() && unix.Stat(os.DevNull, &null) == nil && null.Rdev == s.stat.Rdev
}

func (s *stream) forCommand() *os.File {
	if s.pipe != nil {
		return s.pipe.write
	}
	return s.given
}

func (s *stream) close() {
	if s.fd >= 0 {
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

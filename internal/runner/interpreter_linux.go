package runner

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// explain names the interpreter if the kernel did not find or may not execute that, rather than
// the file. Otherwise it returns err itself.
func explain(path string, err error) error {
	if mayExecute(path) != nil {
		return err
	}
	interpreter := interpreterOf(path)
	if interpreter == "" {
		return err
	}
	if bad := mayExecute(interpreter); bad != nil {
		return fmt.Errorf("interpreter %q of %s: %w", interpreter, path, bad)
	}
	return err
}

// mayExecute says why a file would not be executed. Before Linux 5.8, and where faccessat2 is
// forbidden, the check is for the real user; the emulation in x/sys ignores access control lists.
func mayExecute(path string) error {
	err := unix.Faccessat2(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS)
	if err == unix.ENOSYS || err == unix.EPERM {
		err = unix.Access(path, unix.X_OK)
	}
	return err
}

// headSize is how much of a file the kernel reads (BINPRM_BUF_SIZE).
const headSize = 256

// isText reports whether the first line of a file has no NUL. Shells use the same test to tell a
// script from a program for another machine.
func isText(path string) bool {
	head := headOf(path)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return head != nil && bytes.IndexByte(line, 0) < 0
}

// interpreterOf returns the interpreter that a "#!" line or the program header of an ELF file
// names; empty if none.
func interpreterOf(path string) string {
	head := headOf(path)
	return cmp.Or(shebang(head), loaderOf(path, head))
}

// shebang returns the interpreter that a first line "#!" names; empty if none.
func shebang(head []byte) string {
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if words := bytes.Fields(line); len(words) > 0 {
		return string(words[0])
	}
	return ""
}

// headOf reads as much of a regular file as the kernel does; nil if it may not be read. It waits
// if another process keeps the file from being read.
func headOf(path string) []byte {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	head := make([]byte, headSize)
	n, _ := unix.Pread(fd, head, 0)
	return head[:max(n, 0)]
}

// loaderOf reads PT_INTERP of a 64-bit little-endian ELF file (elf(5)).
func loaderOf(path string, head []byte) string {
	const programHeader, interp = 56, 3
	if len(head) < 64 || string(head[:6]) != "\x7fELF\x02\x01" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	offset, count := int64(binary.LittleEndian.Uint64(head[32:])), int(binary.LittleEndian.Uint16(head[56:]))
	for i := range count {
		h := make([]byte, programHeader)
		if _, err := f.ReadAt(h, offset+int64(i)*programHeader); err != nil {
			return ""
		}
		if binary.LittleEndian.Uint32(h) != interp {
			continue
		}
		name := make([]byte, min(binary.LittleEndian.Uint64(h[32:]), unix.PathMax))
		if _, err := f.ReadAt(name, int64(binary.LittleEndian.Uint64(h[8:]))); err != nil {
			return ""
		}
		return string(bytes.TrimRight(name, "\x00"))
	}
	return ""
}

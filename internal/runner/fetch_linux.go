package runner

import "golang.org/x/sys/unix"

// fetch reads the start of a file that is to be executed, and of the interpreter
// that it names, as execve(2) is going to. If they lie on a server that is gone,
// this hangs in its stead: while a plain system call hangs, the runtime lets
// another thread renew the lease; while execve does, the thread that forked keeps
// what may be the only processor of Go code (package guard). What cannot be read
// is left to execve.
func fetch(path string) {
	if interpreter := shebang(headOf(path)); interpreter != "" {
		headOf(interpreter)
	}
}

// headOf reads as much of a regular file as the kernel looks at; nil if it may not
// be read. It waits for whatever keeps others from reading it.
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

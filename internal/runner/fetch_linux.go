package runner

import "golang.org/x/sys/unix"

// fetch reads the start of the file that is going to be executed, and of the
// interpreter that it names, and closes the channel then. If they lie on a server
// that is gone, this hangs in execve(2)'s stead, and leaves everything else free:
// the lease is renewed, a signal or a stop ends the run, whose process the hanging
// goroutine does not survive. While execve hangs, the thread that forked keeps what
// may be the only processor of Go code (package guard). What cannot be read is left
// to execve.
func (c *Command) fetch() <-chan struct{} {
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		for _, path := range c.candidates() {
			if mayExecute(path) == nil {
				headOf(shebang(headOf(path)))
				return
			}
		}
	}()
	return fetched
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

package runner

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

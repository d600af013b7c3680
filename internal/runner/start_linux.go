package runner

import (
	"errors"
	"os"
	"strings"

	"redlockrun/internal/forkexec"

	"golang.org/x/sys/unix"
)

// shell runs a text without "#!", as execvp(3) says.
const shell = "/bin/sh"

// start executes the command. It tells the guard before and after, so that at no moment the
// command would live on without its starter.
func (c *Command) start(s *spawn) (child *child, err error) {
	c.Guard.starting(c.Marker)
	closed := withDescriptors(c.streams(), func(files []uintptr) {
		attr := &forkexec.Attr{Env: c.Env, Files: [3]uintptr(files)}
		var pid int
		if pid, err = c.execute(s, attr); err == nil {
			c.Guard.watch(pid)
			child = watchChild(pid)
		}
	})
	if closed != nil {
		err = &StartError{Name: c.name(), Code: 71, Err: closed}
	}
	return child, err
}

func (c *Command) streams() []*os.File { return []*os.File{c.Stdin, c.Stdout, c.Stderr} }

// execute tries one candidate after the other as execvp(3) does. The error is a *StartError, or a
// *NotStartedError when StartBy has come.
func (c *Command) execute(s *spawn, attr *forkexec.Attr) (pid int, err error) {
	var denied, missing error
	for _, path := range c.candidates() {
		pid, err = c.executeFile(s, path, attr)
		switch {
		case err == nil:
			return pid, nil
		case errors.Is(err, unix.EACCES):
			denied = explain(path, err)
		case notThere(err):
			if interpreter := explain(path, err); missing == nil && interpreter != err {
				missing = interpreter
			}
		case err == forkexec.ErrLate:
			return 0, &NotStartedError{ErrLate}
		default:
			return 0, &StartError{Name: c.name(), Code: codeOf(err), Err: err}
		}
	}
	switch {
	case denied != nil:
		return 0, &StartError{Name: c.name(), Code: 126, Err: denied}
	case missing != nil:
		return 0, &StartError{Name: c.name(), Code: 127, Err: missing}
	}
	return 0, &StartError{Name: c.name(), Code: 127, Err: errNotFound(c.name())}
}

func (c *Command) executeFile(s *spawn, path string, attr *forkexec.Attr) (int, error) {
	if strings.IndexByte(path, '/') < 0 {
		path = "./" + path // an empty element of PATH is the working directory
	}
	if err := unix.Access(path, unix.F_OK); notThere(err) {
		return 0, err // saves a fork; execve reports all other errors
	}
	pid, err := s.fork(c, path, c.Argv, attr)
	if err == unix.ENOEXEC && isText(path) {
		return s.fork(c, shell, append([]string{shell, path}, c.Argv[1:]...), attr)
	}
	return pid, err
}

func (c *Command) name() string {
	if len(c.Argv) == 0 {
		return ""
	}
	return c.Argv[0]
}

// notThere reports whether execvp(3) goes on to the next element of PATH after err.
func notThere(err error) bool {
	switch err {
	case unix.ENOENT, unix.ENOTDIR, unix.ESTALE, unix.ENODEV, unix.ETIMEDOUT:
		return true
	}
	return false
}

// codeOf separates a lack of resources, which may pass, from a fault of the file.
func codeOf(err error) int {
	switch err {
	case unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ENOSPC, unix.EBUSY:
		return 71
	}
	return 126
}

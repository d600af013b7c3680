package runner

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// shell runs a text without "#!", as execvp(3) says.
const shell = "/bin/sh"

// start executes the command. The guard is told before and after, so that there is
// no moment in which it would let the command live on without its starter.
func (c *Command) start() (*child, error) {
	attr, err := c.attributes()
	if err != nil {
		return nil, &StartError{Name: c.name(), Code: 71, Err: err}
	}
	return begin(func() (int, error) {
		c.Guard.starting(c.Marker)
		pid, err := c.execute(attr)
		if err == nil {
			c.Guard.watch(pid)
		}
		return pid, err
	})
}

func (c *Command) attributes() (*syscall.ProcAttr, error) {
	attr := &syscall.ProcAttr{Env: c.Env, Sys: &syscall.SysProcAttr{Setpgid: true}}
	if os.Getpid() != 1 {
		attr.Sys.Pdeathsig = syscall.SIGKILL // what PID 1 leaves behind is killed anyway
	}
	for number, file := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		fd := uintptr(number)
		if file != nil {
			var err error
			if fd, err = descriptor(file); err != nil {
				return nil, err
			}
		}
		attr.Files = append(attr.Files, fd)
	}
	return attr, nil
}

// descriptor is f's number. f.Fd could turn the open file, which the caller's
// other processes share, into a blocking one.
func descriptor(f *os.File) (fd uintptr, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("use %s: %w", f.Name(), err)
	}
	return fd, raw.Control(func(n uintptr) { fd = n })
}

// execute tries one candidate after the other as execvp(3) does. An error is a *StartError.
func (c *Command) execute(attr *syscall.ProcAttr) (pid int, err error) {
	var denied, missing error
	for _, path := range c.candidates() {
		pid, err = c.executeFile(path, attr)
		switch {
		case err == nil:
			return pid, nil
		case errors.Is(err, unix.EACCES):
			denied = explain(path, err)
		case notThere(err):
			if interpreter := explain(path, err); missing == nil && interpreter != err {
				missing = interpreter
			}
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

func (c *Command) executeFile(path string, attr *syscall.ProcAttr) (int, error) {
	if strings.IndexByte(path, '/') < 0 {
		path = "./" + path // an empty element of PATH is the working directory
	}
	if err := mayExecute(path); err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(path, c.Argv, attr)
	if err == unix.ENOEXEC && isText(path) {
		return syscall.ForkExec(shell, append([]string{shell, path}, c.Argv[1:]...), attr)
	}
	return pid, err
}

// mayExecute spares the fork of a try that execve(2) would refuse.
func mayExecute(path string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS); err != nil && err != unix.ENOSYS {
		return err
	}
	return nil
}

func (c *Command) name() string {
	if len(c.Argv) == 0 {
		return ""
	}
	return c.Argv[0]
}

// notThere are the errors after which execvp(3) goes on to the next element of PATH.
func notThere(err error) bool {
	switch err {
	case unix.ENOENT, unix.ENOTDIR, unix.ESTALE, unix.ENODEV, unix.ETIMEDOUT:
		return true
	}
	return false
}

// codeOf tells want of resources, which may pass, from what is wrong with the file.
func codeOf(err error) int {
	switch err {
	case unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ENOSPC, unix.EBUSY:
		return 71
	}
	return 126
}

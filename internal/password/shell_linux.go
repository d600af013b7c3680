package password

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"redlockrun/internal/guard"
	"redlockrun/internal/lock"
)

// drain is how long stdout and stderr are still read when the group is dead: only a process that
// left the group can have them open.
const drain = 500 * time.Millisecond

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// fetch runs the command once. Its error is a *lock.PasswordError.
func (c *Command) fetch() (string, error) {
	s, err := begin(c.text)
	if err != nil {
		return "", &lock.PasswordError{Problem: "start the password command: " + err.Error()}
	}
	defer context.AfterFunc(c.ctx, s.interrupt)()
	return s.await().password(c.text)
}

// A shell is a process that runs the command.
type shell struct {
	pid            int // of its supervisor, which leads the group
	orders         int // the group may live for as long as this is open
	stdout, stderr *os.File
	end            *os.File // the supervisor writes here how the shell ended
	reading        sync.WaitGroup
	said
}

// begin starts the shell. Its stdin is /dev/null, and it inherits none of this process's
// descriptors.
func begin(text string) (*shell, error) {
	null, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(null)
	stdout, out, err := pipe()
	if err != nil {
		return nil, err
	}
	defer syscall.Close(out)
	stderr, errs, err := pipe()
	if err != nil {
		stdout.Close()
		return nil, err
	}
	defer syscall.Close(errs)
	s := &shell{stdout: stdout, stderr: stderr}
	if err := s.supervise(text, [3]uintptr{uintptr(null), uintptr(out), uintptr(errs)}); err != nil {
		stdout.Close()
		stderr.Close()
		return nil, err
	}
	return s, nil
}

// pipe makes a pipe whose reading end obeys deadlines. The other end may be a program's stdout.
func pipe() (reading *os.File, writing int, err error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, 0, err
	}
	_ = syscall.SetNonblock(ends[0], true)
	return os.NewFile(uintptr(ends[0]), "password"), ends[1], nil
}

func (s *shell) supervise(text string, streams [3]uintptr) error {
	pipes, err := guard.NewPipes()
	if err != nil {
		return err
	}
	if s.pid, err = pipes.Supervise(text, streams, limit.Nanoseconds()); err != nil {
		pipes.CloseStarters()
		return err
	}
	s.orders, s.end = pipes.Orders[1], os.NewFile(uintptr(pipes.Ready[0]), "supervisor")
	return nil
}

// interrupt ends await at once.
func (s *shell) interrupt() { s.end.SetReadDeadline(past) }

// await waits for the end of the shell, kills the rest of its group, and returns the output.
func (s *shell) await() *said {
	s.end.SetReadDeadline(time.Now().Add(limit))
	s.reading.Go(s.readPassword)
	s.reading.Go(func() { keepEnd(s.stderr, &s.heard) })
	message := make([]byte, guard.Size)
	switch _, err := io.ReadFull(s.end, message); {
	case err == nil:
		s.status, s.missing = guard.ShellEnd(message)
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.late = true
	default: // another process killed the supervisor
		s.status = syscall.WaitStatus(syscall.SIGKILL)
	}
	s.kill()
	for _, file := range []*os.File{s.stdout, s.stderr} {
		file.SetReadDeadline(time.Now().Add(drain))
	}
	s.reading.Wait()
	s.stdout.Close()
	s.stderr.Close()
	s.end.Close()
	return &s.said
}

// readPassword reads stdout, and ends a command that prints too much.
func (s *shell) readPassword() {
	s.printed, _ = io.ReadAll(io.LimitReader(s.stdout, mostPrinted+3)) // with the end of the line
	if len(s.printed) > mostPrinted+2 {
		s.interrupt()
	}
}

// kill ends the group, whose number stays its own until its leader is reaped.
func (s *shell) kill() {
	_ = syscall.Kill(-s.pid, syscall.SIGKILL)
	syscall.Close(s.orders)
	for {
		if _, err := syscall.Wait4(s.pid, nil, 0, nil); err != syscall.EINTR {
			return // as PID 1 the kernel, or a goroutine that waits for all children, may have reaped it
		}
	}
}

// keepEnd reads a file, and keeps its end.
func keepEnd(file *os.File, kept *[]byte) {
	buf := make([]byte, mostHeard)
	for {
		n, err := file.Read(buf)
		*kept = append(*kept, buf[:n]...)
		*kept = (*kept)[max(0, len(*kept)-mostHeard):]
		if err != nil {
			return
		}
	}
}

// Package screen is a terminal that a page is drawn on again and again, and that is left as
// it was: when the screen is closed, and while the program is suspended.
package screen

import (
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const (
	begin = "\x1b[?1049h\x1b[?25l\x1b[2J" // the other page, without a cursor, empty
	end   = "\x1b[?25h\x1b[?1049l"
)

// A Screen is a terminal that has been taken. Its methods may be called by several goroutines.
type Screen struct {
	in, out *os.File
	keys    chan byte
	changed chan struct{}
	signals chan os.Signal
	done    chan struct{} // closed by Close
	wake    *os.File      // likewise: it ends the reading of keys
	ended   sync.WaitGroup

	mu     sync.Mutex
	before *unix.Termios // of in; nil if that is no terminal
}

// On reports whether a file leads to a terminal, which can be a screen.
func On(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Open takes the terminal that out leads to, and reads keys from in if that is one, too.
// Close gives it back, and must be called.
func Open(in, out *os.File) (*Screen, error) {
	s := &Screen{in: in, out: out, keys: make(chan byte), changed: make(chan struct{}, 1),
		signals: make(chan os.Signal, 8), done: make(chan struct{})}
	asleep, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.wake = wake
	signal.Notify(s.signals, syscall.SIGWINCH, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGTSTP) { // a shell without job control wants that
		signal.Notify(s.signals, syscall.SIGTSTP)
	}
	s.enter()
	s.ended.Go(s.attend)
	s.ended.Go(func() { s.listen(asleep) })
	return s, nil
}

// Close leaves the terminal as it was before Open. The second time it does nothing.
func (s *Screen) Close() {
	select {
	case <-s.done:
		return
	default:
	}
	close(s.done)
	s.wake.Close()
	s.ended.Wait()
	s.leave()
	signal.Stop(s.signals)
}

// Keys are the bytes that are typed. The channel is never closed.
func (s *Screen) Keys() <-chan byte { return s.keys }

// Changed is readable when the page is to be drawn anew: the size is another, or the program
// was suspended.
func (s *Screen) Changed() <-chan struct{} { return s.changed }

// Size is that of the terminal, and 80 by 24 if nobody knows.
func (s *Screen) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// Draw shows lines in the place of what was shown before: as many as there is room for.
// None of them may be wider than the terminal.
func (s *Screen) Draw(lines []string) {
	_, rows := s.Size()
	s.mu.Lock()
	defer s.mu.Unlock()
	var page strings.Builder
	page.WriteString("\x1b[H")
	for i, line := range lines[:min(len(lines), rows)] {
		if i > 0 {
			page.WriteString("\r\n")
		}
		page.WriteString("\x1b[2K" + line) // a line is emptied first: behind the last column that would take a letter
	}
	page.WriteString("\x1b[J")
	s.write(page.String())
}

// write has nobody to tell of an error: a terminal that is gone sends SIGHUP.
func (s *Screen) write(text string) { _, _ = s.out.WriteString(text) }

// enter takes the terminal, whose settings are to be kept.
func (s *Screen) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, _ = unix.IoctlGetTermios(int(s.in.Fd()), getTermios)
	s.take()
}

// take makes single keys readable. Those that send a signal go on to do so.
func (s *Screen) take() {
	if s.before != nil {
		raw := *s.before
		raw.Lflag &^= unix.ICANON | unix.ECHO
		raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 0
		_ = unix.IoctlSetTermios(int(s.in.Fd()), setTermios, &raw)
	}
	s.write(begin)
}

func (s *Screen) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(end)
	if s.before != nil {
		_ = unix.IoctlSetTermios(int(s.in.Fd()), setTermios, s.before)
	}
}

// attend follows what becomes of the terminal and of this process.
func (s *Screen) attend() {
	for {
		select {
		case <-s.done:
			return
		case sig := <-s.signals:
			switch sig {
			case syscall.SIGTSTP:
				s.leave()
				suspend()
				s.enter()
			case syscall.SIGCONT: // after a SIGSTOP, too, which nobody could see coming
				s.mu.Lock()
				s.take()
				s.mu.Unlock()
			}
			s.change()
		}
	}
}

func (s *Screen) change() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// listen reads keys until the screen is closed, or nothing more can be typed.
func (s *Screen) listen(asleep *os.File) {
	defer asleep.Close()
	if !On(s.in) {
		return
	}
	ready := []unix.PollFd{{Fd: int32(s.in.Fd()), Events: unix.POLLIN}, {Fd: int32(asleep.Fd()), Events: unix.POLLIN}}
	key := make([]byte, 1)
	for {
		_, err := unix.Poll(ready, -1)
		if err != nil && err != unix.EINTR || ready[1].Revents != 0 {
			return
		}
		if err != nil || ready[0].Revents == 0 {
			continue
		}
		n, _ := unix.Read(int(s.in.Fd()), key)
		if n < 1 && ready[0].Revents&^unix.POLLIN != 0 { // it is hung up
			return
		}
		if n < 1 { // another has read it
			continue
		}
		select {
		case s.keys <- key[0]:
		case <-s.done:
			return
		}
	}
}

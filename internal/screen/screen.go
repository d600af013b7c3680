// Package screen draws a page on a terminal again and again. It restores the terminal when the
// screen is closed and while the program is suspended.
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
	begin = "\x1b[?1049h\x1b[?25l\x1b[2J" // the alternate screen, without a cursor, empty
	end   = "\x1b[?25h\x1b[?1049l"
)

// A Screen is a terminal in use. Several goroutines may call its methods.
type Screen struct {
	in, out *os.File
	keys    chan byte
	changed chan struct{}
	signals chan os.Signal
	done    chan struct{} // closed by Close
	wake    *os.File      // closed by Close too: it ends the reading of keys
	ended   sync.WaitGroup

	mu     sync.Mutex
	before *unix.Termios // the settings of in; nil if it is no terminal
}

// On reports whether a file is a terminal.
func On(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Open takes the terminal out, and reads keys from in if that is a terminal too. The caller must
// call Close, which restores the terminal.
func Open(in, out *os.File) (*Screen, error) {
	s := &Screen{in: in, out: out, keys: make(chan byte), changed: make(chan struct{}, 1),
		signals: make(chan os.Signal, 8), done: make(chan struct{})}
	asleep, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.wake = wake
	signal.Notify(s.signals, syscall.SIGWINCH, syscall.SIGCONT)
	if !signal.Ignored(syscall.SIGTSTP) { // a shell without job control has it ignored
		signal.Notify(s.signals, syscall.SIGTSTP)
	}
	s.enter()
	s.ended.Go(s.handleSignals)
	s.ended.Go(func() { s.listen(asleep) })
	return s, nil
}

// Close restores the terminal. A second call does nothing.
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

// Keys returns the channel of the typed bytes. It is never closed.
func (s *Screen) Keys() <-chan byte { return s.keys }

// Changed returns a channel that is readable when the page must be drawn again: the size has
// changed, or the program was suspended.
func (s *Screen) Changed() <-chan struct{} { return s.changed }

// Size returns the size of the terminal; 80 by 24 if it is unknown.
func (s *Screen) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// Draw replaces the page by lines, as many as there is room for. No line may be wider than the
// terminal.
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
		page.WriteString("\x1b[2K" + line) // erased first: after a full line this would erase its last letter
	}
	page.WriteString("\x1b[J")
	s.write(page.String())
}

// write ignores errors: a terminal that disappears sends SIGHUP.
func (s *Screen) write(text string) { _, _ = s.out.WriteString(text) }

// enter saves the settings of the terminal and takes it.
func (s *Screen) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, _ = unix.IoctlGetTermios(int(s.in.Fd()), getTermios)
	s.take()
}

// take makes single keys readable. Keys that send a signal still send it.
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

// handleSignals redraws after a change of size, and gives the terminal back during a suspension.
func (s *Screen) handleSignals() {
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
			case syscall.SIGCONT: // also after SIGSTOP, which cannot be caught
				s.mu.Lock()
				s.take()
				s.mu.Unlock()
			}
			select {
			case s.changed <- struct{}{}:
			default:
			}
		}
	}
}

// listen reads keys until the screen is closed or the input ends.
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
		if n < 1 && ready[0].Revents&^unix.POLLIN != 0 { // a hang-up
			return
		}
		if n < 1 { // another process has read it
			continue
		}
		select {
		case s.keys <- key[0]:
		case <-s.done:
			return
		}
	}
}

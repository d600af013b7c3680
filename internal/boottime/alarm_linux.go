package boottime

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timer is a timer of the kernel, see timerfd_create(2).
type timer struct {
	bell chan struct{}
	fd   int
	file *os.File
	over chan struct{} // closed when listen has returned
}

// NewAlarm returns an alarm that is not set, which the kernel rings. The error says that the
// kernel has none.
func NewAlarm() (Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make timer: %w", err)
	}
	t := &timer{bell: make(chan struct{}, 1), fd: fd, file: os.NewFile(uintptr(fd), "alarm"), over: make(chan struct{})}
	go t.listen()
	return t, nil
}

func (t *timer) Bell() <-chan struct{} { return t.bell }

func (t *timer) Set(at time.Time) error {
	left := unix.NsecToTimespec(max(1, Until(at).Nanoseconds())) // 0 would be never
	if err := unix.TimerfdSettime(t.fd, 0, &unix.ItimerSpec{Value: left}, nil); err != nil {
		return fmt.Errorf("set timer: %w", err)
	}
	return nil
}

func (t *timer) Close() {
	t.file.Close()
	<-t.over
}

func (t *timer) listen() {
	defer close(t.over)
	for count := make([]byte, 8); ; {
		if _, err := t.file.Read(count); err != nil {
			return
		}
		select {
		case t.bell <- struct{}{}:
		default: // it rings already
		}
	}
}

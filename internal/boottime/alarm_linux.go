package boottime

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An Alarm rings when an instant of this package has come, also if the machine
// sleeps meanwhile: then as soon as it has woken up.
type Alarm struct {
	bell chan struct{}
	fd   int // of a timer, see timerfd_create(2)
	file *os.File
	over chan struct{} // closed when listen has returned
}

// NewAlarm returns an alarm that is not set. Whoever makes one closes it.
func NewAlarm() (*Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make timer: %w", err)
	}
	a := &Alarm{bell: make(chan struct{}, 1), fd: fd, file: os.NewFile(uintptr(fd), "alarm"), over: make(chan struct{})}
	go a.listen()
	return a, nil
}

// Bell is what rings. It may ring once for an instant that was set before.
func (a *Alarm) Bell() <-chan struct{} { return a.bell }

// Set makes the alarm ring at an instant, instead of the one that was set before.
func (a *Alarm) Set(at time.Time) error {
	left := unix.NsecToTimespec(max(1, Until(at).Nanoseconds())) // 0 would be never
	if err := unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: left}, nil); err != nil {
		return fmt.Errorf("set timer: %w", err)
	}
	return nil
}

// Close ends the alarm. It may not be used any more.
func (a *Alarm) Close() {
	a.file.Close()
	<-a.over
}

func (a *Alarm) listen() {
	defer close(a.over)
	for count := make([]byte, 8); ; {
		if _, err := a.file.Read(count); err != nil {
			return
		}
		select {
		case a.bell <- struct{}{}:
		default: // it rings already
		}
	}
}

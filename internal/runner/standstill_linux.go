package runner

import (
	"bufio"
	"os"
	"strings"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/guard"

	"golang.org/x/sys/unix"
)

// A standstill is a process group that is stopped as a whole. The caller repeats [standstill.try]
// until it returns true, keeps the lease until then, and lets it end. From the lease's end on
// [standstill.runs] reports whether a member was continued.
type standstill struct {
	group int
	watch guard.Lookout
	vain  int  // tries that found a running member
	hides bool // /proc may hide processes
}

// freed is the number of failed looks after which a wait for a stopped child is ended.
const freed = 3

// try sends SIGSTOP to every member and reports whether each is seen to be stopped or dead.
//
// One look is enough: the kernel sends a signal to all members at once, and a member with a signal
// forks no more (fork(2)). A member that ignores SIGTSTP stops, too. A member in the kernel stops
// when it comes back, not before. A member of another user, or one that /proc hides, may never be
// seen to stop.
func (s *standstill) try() bool {
	_ = unix.Kill(-s.group, unix.SIGSTOP) // a member that may not get it is seen to run
	if guard.Look(s.group).Still() && !(s.hides && guard.Hidden(s.group) > 0) {
		return true
	}
	if s.vain++; s.vain%freed == 0 {
		s.free()
	}
	return false
}

// runs reports whether a member runs, or is not seen to stand still.
func (s *standstill) runs() bool { return !s.watch.Still(s.group) }

// free continues, for a moment, the members that are stopped between vfork(2) and execve(2): their
// parents cannot be stopped before. They stop in the next try.
func (s *standstill) free() {
	for _, w := range guard.Waiters(s.group) {
		_ = unix.Kill(w.Child, unix.SIGCONT)
	}
}

// procHides reports whether /proc may hide processes (hidepid=, proc(5)), or whether that is not
// known.
func procHides() bool {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return true
	}
	defer f.Close()
	hides := true
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		mount, options, ok := strings.Cut(lines.Text(), " - ")
		if fields := strings.Fields(mount); ok && len(fields) > 4 && fields[4] == "/proc" {
			hides = hidesProcesses(options) // the last mount there counts
		}
	}
	return hides || lines.Err() != nil
}

// hidesProcesses reads the part of a mountinfo line behind the dash: type, source, options.
func hidesProcesses(mount string) bool {
	fields := strings.Fields(mount)
	if len(fields) != 3 || fields[0] != "proc" {
		return true
	}
	for option := range strings.SplitSeq(fields[2], ",") {
		name, value, _ := strings.Cut(option, "=")
		if name == "hidepid" && value != "0" && value != "off" || name == "subset" {
			return true
		}
	}
	return false
}

const (
	soonestLook = time.Millisecond      // between two tries to stop a group, at first
	latestLook  = 50 * time.Millisecond // and in the end; between two checks of a stopped one
	patience    = time.Second           // until the user is told that it does not stop
)

// standStill stops the whole group. It returns true when each member is seen to stand still. It
// returns false if an event arrived for which the command must run: then the caller continues it.
// Other signals are passed on.
func (r *run) standStill() bool {
	s := &standstill{group: r.child.pid, hides: procHides()}
	began, told, pause := boottime.Now(), false, soonestLook
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			still := s.try()
			if r.child.ended() || r.stops.waiting() || r.stands.waiting() {
				return false
			}
			if still {
				return true
			}
			if !told && boottime.Until(began) < -patience {
				told = true
				r.warn(errNotStopped)
			}
			next.Reset(pause)
			pause = min(2*pause, latestLook)
		case sig := <-r.signals:
			if m := meaningOf(sig); m.alone == resumes || m.alone == ends {
				r.forward(sig)
				return false
			}
			r.forwardParked(sig)
		case <-r.over:
			return false
		}
	}
}

// keepStill makes sure that a parked group whose lease has ended stands still, until the returned
// function is called. If a member runs again, the whole group is killed, or, if it stands still for
// its lease, stopped. The guard does the same, and while this process stands still only the guard
// does.
func (r *run) keepStill() (end func()) {
	s := &standstill{group: r.child.pid}
	over, ended := make(chan struct{}), make(chan struct{})
	sig, pause := unix.SIGKILL, latestLook
	if r.standing != nil {
		sig, pause = unix.SIGSTOP, standLook
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				if r.Guard.overdue() && s.runs() {
					_ = unix.Kill(-s.group, sig)
				}
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

package runner

import "golang.org/x/sys/unix"

// Park and Unpark tell the guard what Run tells it when the command is suspended.
func (g *Guard) Park()   { g.park() }
func (g *Guard) Unpark() { g.unpark() }

// KillNow tells the guard what Run tells it when the command is not wanted any more.
func (g *Guard) KillNow() { g.killNow() }

// Unread returns how many bytes of its orders the guard has not read.
func (g *Guard) Unread() (n int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return unix.IoctlGetInt(g.orders, unix.TIOCINQ)
}

// Disarm does what Run does before it reaps the command's leader.
func (g *Guard) Disarm() { g.disarm() }

// Ended reports whether there is no guard any more.
func (g *Guard) Ended() bool {
	select {
	case <-g.ended:
		return true
	default:
		return false
	}
}

// Hold keeps everybody from telling or ending the guard, until release is called.
func (g *Guard) Hold() (release func()) {
	g.mu.Lock()
	return g.mu.Unlock
}

// HidesProcesses reads a line of /proc/self/mountinfo.
func HidesProcesses(mount string) bool { return hidesProcesses(mount) }

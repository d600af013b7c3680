package runner

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// forward passes a signal on as the table of signals says.
func (r *run) forward(sig os.Signal) {
	m := meaningOf(sig)
	switch m.alone {
	case suspends:
		r.forwardStop(sig.(syscall.Signal))
		return
	case resumes:
		r.forwarded = 0
	case ends:
		r.noteOrder(sig.(syscall.Signal))
	}
	switch m.to {
	case toGroup:
		r.toGroup(sig.(syscall.Signal))
	case toCommand:
		sig := sig.(syscall.Signal)
		r.report(sig, unix.Kill(r.child.pid, sig))
	}
}

// noteOrder remembers a signal that asks the command to end, unless the command has already ended.
func (r *run) noteOrder(sig syscall.Signal) {
	if !r.child.ended() {
		r.ordered.add(sig)
	}
}

func (r *run) toGroup(sig syscall.Signal) { r.report(sig, unix.Kill(-r.child.pid, sig)) }

// report warns once of a signal that did not arrive. It stays silent if no process was left to get
// it.
func (r *run) report(sig syscall.Signal, err error) {
	if err == nil || err == unix.ESRCH || r.warned {
		return
	}
	r.warned = true
	r.warn(fmt.Errorf("send signal %d (%v) to process %d: %w", int(sig), sig, r.child.pid, err))
}

package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// DialContext connects from the host to an address given by number. It is what
// net.Dialer.DialContext is on this machine.
func (h *Host) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if h == nil {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := enter(h.keep.Process.Pid); err != nil {
			done <- result{nil, err}
			return
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		done <- result{conn, err}
	}()
	r := <-done
	return r.conn, r.err
}

// enter moves the calling thread into the network namespace of a process.
func enter(pid int) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return err
	}
	defer ns.Close()
	return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
}

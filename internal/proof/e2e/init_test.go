//go:build linux

package e2e

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// asInit makes a process PID 1 of a namespace, as a container's first is.
func asInit() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Getuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
	}
	return a
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

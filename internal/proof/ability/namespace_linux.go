package ability

import (
	"os"
	"syscall"
)

// PID1 lets a process be PID 1 of a new PID namespace, and have new ones of the kinds
// that flags name (clone(2)). Who is not root gets a new user namespace as well, with
// the same numbers. It needs Namespaces.
func PID1(flags uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | flags}
	if uid := os.Getuid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

package guard

import "syscall"

func init() {
	if limit, text, ok := calledToSupervise(); ok {
		supervise(limit, text)
	}
	if kept, orders, ok := invoked(); ok {
		syscall.Exit(run(kept, orders))
	}
}

// invoked reports whether this process must become a guard, how many descriptors it holds, and the
// number of the starter's end of its orders. For any other process this costs one fstat.
func invoked() (kept, orders int, ok bool) {
	if !hasOrders() {
		return 0, 0, false
	}
	name, argv := cut(readFile(0, "/cmdline", make([]byte, 256)), 0)
	if string(name) != Name {
		return 0, 0, false
	}
	first, argv := cut(argv, 0)
	_, argv = cut(argv, 0) // the starter
	last, _ := cut(argv, 0)
	return max(0, number(first)), number(last), true
}

// hasOrders reports whether the orders are a pipe from the starter, and not one that this process
// made itself: execve would close that.
func hasOrders() bool {
	var st syscall.Stat_t
	if syscall.Fstat(Orders, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return false
	}
	flags, _, e := syscall.RawSyscall(syscall.SYS_FCNTL, Orders, syscall.F_GETFD, 0)
	return e == 0 && flags&syscall.FD_CLOEXEC == 0
}

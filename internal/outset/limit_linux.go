package outset

import "unsafe"

// A Limit is struct rlimit64 (prlimit(2)).
type Limit struct{ Current, Maximum uint64 }

// Descriptors is the limit of open files that this process was started with. Package syscall
// raises the limit when it is initialized, and keeps the old value private.
var Descriptors Limit

// raised returns the limit that package syscall makes of it.
func (l Limit) raised() Limit {
	if l.Maximum > 0 && l.Current < l.Maximum-1 {
		l.Current = l.Maximum - 1
	}
	return l
}

// DescriptorsRaised reports whether this process still has the limit that package syscall set.
func DescriptorsRaised() bool {
	now, ok := descriptors()
	return ok && now != Descriptors && now == Descriptors.raised()
}

func descriptors() (l Limit, ok bool) {
	const limitOfFiles = 7 // RLIMIT_NOFILE, except on MIPS
	_, _, e := rawSyscall6(sysPrlimit, 0, limitOfFiles, 0, uintptr(unsafe.Pointer(&l)), 0, 0)
	return l, e == 0
}

func init() { Descriptors, _ = descriptors() }

package outset

import _ "unsafe" // go:linkname

// rawSyscall6 is syscall.RawSyscall6, which may be linked to without importing it.
//
//go:linkname rawSyscall6 syscall.RawSyscall6
//go:noescape
func rawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2, errno uintptr)

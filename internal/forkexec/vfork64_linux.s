//go:build linux && (amd64 || arm64)

#include "textflag.h"

// func vfork(trap, a1, a2, a3 uintptr) (r1 uintptr, err syscall.Errno)
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-48
	JMP syscall·rawVforkSyscall(SB)

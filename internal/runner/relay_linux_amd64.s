#include "textflag.h"

// relay is a signal handler: the kernel calls it with the signal's number in DI,
// on the signal stack of whichever thread is interrupted. It writes the number, one
// byte, to the pipe and returns to the restorer, whose address the kernel has pushed.
TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ DI
	MOVQ  ·relayPipe(SB), DI
	MOVQ  SP, SI
	MOVQ  $1, DX
	MOVQ  $1, AX // SYS_write
	SYSCALL
	POPQ  DI
	RET

// func relayAddress() uintptr
TEXT ·relayAddress(SB), NOSPLIT, $0-8
	LEAQ ·relay(SB), AX
	MOVQ AX, ret+0(FP)
	RET

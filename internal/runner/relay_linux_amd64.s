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

// relayFault is the handler of a signal that the kernel also sends for a fault of
// this process: then si_code, which SI points to, is positive (sigaction(2)), and the
// runtime's own handler is to have it.
TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVL  8(SI), AX
	TESTL AX, AX
	JLE   sent
	MOVQ  ·runtimeHandler(SB), AX
	JMP   AX

sent:
	JMP ·relay(SB)

// disregard is the handler of a signal that is to have no effect.
TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func relayAddress() uintptr
TEXT ·relayAddress(SB), NOSPLIT, $0-8
	LEAQ ·relay(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func relayFaultAddress() uintptr
TEXT ·relayFaultAddress(SB), NOSPLIT, $0-8
	LEAQ ·relayFault(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func disregardAddress() uintptr
TEXT ·disregardAddress(SB), NOSPLIT, $0-8
	LEAQ ·disregard(SB), AX
	MOVQ AX, ret+0(FP)
	RET

#include "textflag.h"

// relay is a signal handler: the kernel calls it with the signal's number in DI,
// on the signal stack of whichever thread is interrupted. It writes the number, one
// byte, to the pipe and returns to the restorer, whose address the kernel has pushed.
// What it changes in registers the kernel restores.
TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ DI
	MOVQ  ·pipe(SB), DI
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

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-24
	LEAQ ·relay(SB), AX
	MOVQ AX, relay+0(FP)
	LEAQ ·relayFault(SB), AX
	MOVQ AX, relayFault+8(FP)
	LEAQ ·disregard(SB), AX
	MOVQ AX, disregard+16(FP)
	RET

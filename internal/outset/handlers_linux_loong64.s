#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the number in R4, siginfo in R5 and the way back in R1.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	ADDV $-16, R3
	MOVB R4, (R3)
	MOVV ·pipe(SB), R4
	MOVV R3, R5
	MOVV $1, R6
	MOVV $64, R11 // SYS_write
	SYSCALL
	ADDV $16, R3
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVW 8(R5), R12
	BLEZ R12, sent
	MOVV ·runtimeHandler(SB), R12
	JMP  (R12)

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-24
	MOVV $·relay(SB), R12
	MOVV R12, relay+0(FP)
	MOVV $·relayFault(SB), R12
	MOVV R12, relayFault+8(FP)
	MOVV $·disregard(SB), R12
	MOVV R12, disregard+16(FP)
	RET

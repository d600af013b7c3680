#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the way back, the number and the address of siginfo
// on the stack, in that order.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	MOVL ·pipe(SB), BX
	LEAL 4(SP), CX
	MOVL $1, DX
	MOVL $4, AX // SYS_write
	INT  $0x80
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVL  8(SP), AX
	MOVL  8(AX), AX
	TESTL AX, AX
	JLE   sent
	MOVL  ·runtimeHandler(SB), AX
	JMP   AX

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-12
	LEAL ·relay(SB), AX
	MOVL AX, relay+0(FP)
	LEAL ·relayFault(SB), AX
	MOVL AX, relayFault+4(FP)
	LEAL ·disregard(SB), AX
	MOVL AX, disregard+8(FP)
	RET

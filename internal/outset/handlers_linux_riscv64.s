#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the number in X10, siginfo in X11 and the way back in X1.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	ADDI $-16, X2
	MOVB X10, (X2)
	MOV  ·pipe(SB), X10
	MOV  X2, X11
	MOV  $1, X12
	MOV  $64, X17 // SYS_write
	ECALL
	ADDI $16, X2
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVW 8(X11), X5
	BLEZ X5, sent
	MOV  ·runtimeHandler(SB), X5
	JMP  (X5)

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-24
	MOV $·relay(SB), X5
	MOV X5, relay+0(FP)
	MOV $·relayFault(SB), X5
	MOV X5, relayFault+8(FP)
	MOV $·disregard(SB), X5
	MOV X5, disregard+16(FP)
	RET

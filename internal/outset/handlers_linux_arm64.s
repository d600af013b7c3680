#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the number in R0, siginfo in R1 and the way back in R30.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $16, RSP
	MOVB R0, (RSP)
	MOVD ·pipe(SB), R0
	MOVD RSP, R1
	MOVD $1, R2
	MOVD $64, R8 // SYS_write
	SVC
	ADD  $16, RSP
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVW 8(R1), R3
	CMPW $0, R3
	BLE  sent
	MOVD ·runtimeHandler(SB), R3
	JMP  (R3)

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-24
	MOVD $·relay(SB), R0
	MOVD R0, relay+0(FP)
	MOVD $·relayFault(SB), R0
	MOVD R0, relayFault+8(FP)
	MOVD $·disregard(SB), R0
	MOVD R0, disregard+16(FP)
	RET

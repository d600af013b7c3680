#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the number in R0, siginfo in R1 and the way back in R14.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $8, R13
	MOVB R0, (R13)
	MOVW ·pipe(SB), R0
	MOVW R13, R1
	MOVW $1, R2
	MOVW $4, R7 // SYS_write
	SWI  $0
	ADD  $8, R13
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVW 8(R1), R3
	CMP  $0, R3
	BLE  sent
	MOVW ·runtimeHandler(SB), R3
	JMP  (R3)

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-12
	MOVW $·relay(SB), R1
	MOVW R1, relay+0(FP)
	MOVW $·relayFault(SB), R1
	MOVW R1, relayFault+4(FP)
	MOVW $·disregard(SB), R1
	MOVW R1, disregard+8(FP)
	RET

#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the number in R2, siginfo in R3 and the way back in R14.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $16, R15
	MOVB R2, (R15)
	MOVD ·pipe(SB), R2
	MOVD R15, R3
	MOVD $1, R4
	MOVD $4, R1 // SYS_write
	SYSCALL
	ADD  $16, R15
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVW 8(R3), R1
	CMP  R1, $0
	BLE  sent
	MOVD ·runtimeHandler(SB), R1
	JMP  (R1)

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-24
	MOVD $·relay(SB), R1
	MOVD R1, relay+0(FP)
	MOVD $·relayFault(SB), R1
	MOVD R1, relayFault+8(FP)
	MOVD $·disregard(SB), R1
	MOVD R1, disregard+16(FP)
	RET

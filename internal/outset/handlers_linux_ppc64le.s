#include "textflag.h"

// The handlers are described in handlers_linux_amd64.s. Here the kernel calls them with
// the number in R3, siginfo in R4 and the way back in LR.

TEXT ·relay(SB), NOSPLIT|NOFRAME, $0-0
	ADD  $-32, R1
	MOVB R3, 16(R1)
	MOVD ·pipe(SB), R3
	ADD  $16, R1, R4
	MOVD $1, R5
	SYSCALL $4 // SYS_write
	ADD  $32, R1
	RET

TEXT ·relayFault(SB), NOSPLIT|NOFRAME, $0-0
	MOVW 8(R4), R7
	CMPW R7, $0
	BLE  sent
	MOVD ·runtimeHandler(SB), R12
	MOVD R12, CTR
	JMP  (CTR)

sent:
	JMP ·relay(SB)

TEXT ·disregard(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func handlers() (relay, relayFault, disregard uintptr)
TEXT ·handlers(SB), NOSPLIT, $0-24
	MOVD $·relay(SB), R7
	MOVD R7, relay+0(FP)
	MOVD $·relayFault(SB), R7
	MOVD R7, relayFault+8(FP)
	MOVD $·disregard(SB), R7
	MOVD R7, disregard+16(FP)
	RET

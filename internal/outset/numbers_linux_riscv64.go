package outset

// Numbers of system calls.
const (
	sysPrlimit   = 261
	sysSigaction = 134
	sysPipe      = 59
)

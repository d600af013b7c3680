package outset

// Numbers of system calls.
const (
	sysPrlimit   = 334
	sysSigaction = 174
	sysPipe      = 325
)

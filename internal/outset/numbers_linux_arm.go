package outset

// Numbers of system calls.
const (
	sysPrlimit   = 369
	sysSigaction = 174
	sysPipe      = 359
)

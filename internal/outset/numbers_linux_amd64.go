package outset

// Numbers of system calls.
const (
	sysPrlimit   = 302
	sysSigaction = 13
	sysPipe      = 293
)

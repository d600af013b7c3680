package outset

// Numbers of system calls.
const (
	sysPrlimit   = 340
	sysSigaction = 174
	sysPipe      = 331
)

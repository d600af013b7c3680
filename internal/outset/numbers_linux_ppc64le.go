package outset

// Numbers of system calls.
const (
	sysPrlimit   = 325
	sysSigaction = 173
	sysPipe      = 317
)

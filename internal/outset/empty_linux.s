// Empty: with a file of assembler, functions may lack a body (syscall_linux.go).

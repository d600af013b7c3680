package runner_test

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// grant lets one other user, who is neither the owner nor of the group, execute a file, by an
// access control list (acl(5)).
func grant(t *testing.T, path string) {
	t.Helper()
	const (
		version                                = 2
		owner, user, group, mask, other        = 1, 2, 4, 16, 32
		none, read, execute, undefined  uint32 = 0, 4, 1, 1<<32 - 1
	)
	var list bytes.Buffer
	add := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&list, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	entry := func(tag uint16, rights, id uint32) { add(tag, uint16(rights), id) }
	add(uint32(version))
	entry(owner, read, undefined)
	entry(user, read|execute, somebody)
	entry(group, none, undefined)
	entry(mask, read|execute, undefined)
	entry(other, none, undefined)
	if err := unix.Setxattr(path, "system.posix_acl_access", list.Bytes(), 0); err != nil {
		t.Fatalf("set an access control list (the file system of %s needs them): %v", path, err)
	}
}

func TestAFileThatOnlyAnACLLetsExecuteIsExecuted(t *testing.T) {
	for kernel, part := range map[string]string{"this one": "wrapper", "before 5.8": "oldkernel"} {
		cmd := &exec.Cmd{}
		asSomebody(t, cmd)
		tool := filepath.Join(filepath.Dir(cmd.Path), "tool")
		place(t, tool, "#!/bin/sh\nexit 9\n", 0o400)
		grant(t, tool)
		cmd.Args = wrapped(script{Log: filepath.Join(filepath.Dir(cmd.Path), "log")}, tool)
		cmd.Args[1] = part
		start(t, cmd)
		if c := code(t, cmd); c != 9 {
			t.Errorf("kernel %s: got %d, want 9", kernel, c)
		}
	}
}

// playOldKernel is a wrapper on a kernel that does not know faccessat2.
func playOldKernel(args []string) int {
	forbid(unix.SYS_FACCESSAT2, unix.ENOSYS)
	return playWrapper(args)
}

// forbid makes a system call fail from now on, in this process and all that it starts.
func forbid(number uint32, with unix.Errno) {
	const load, equal, give, allow, fail = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000 // seccomp(2), BPF
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the system call's number
		{Code: equal, Jf: 1, K: number},
		{Code: give, K: fail | uint32(with)},
		{Code: give, K: allow},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP,
		unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		panic(e)
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"redlockrun/internal/redistest"

	"golang.org/x/sys/unix"
)

// A command whose file does not come, as from a dead file server, keeps its
// starter in execve(2). The lock is renewed meanwhile. A lease on the file
// (fcntl(2), F_SETLEASE) keeps whoever opens it waiting.
func TestTheLockIsRenewedWhileExecHangs(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, redistest.Options{})
	path := filepath.Join(t.TempDir(), "command")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("this file system has no leases: ", err)
	}
	run := launch(t, s.URL(), "-k", "job", "--ttl", "2", path)
	until(t, "the execution", func() bool { // somebody wants to read: the lease is to end
		kind, err := unix.FcntlInt(file.Fd(), unix.F_GETLEASE, 0)
		return err == nil && kind != unix.F_WRLCK
	})
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if held, err := s.Do("EXISTS", key); err != nil || held != int64(1) {
			t.Fatalf("the lock is gone (%v, %v)\n%s", held, err, run.stderr())
		}
	}
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
		t.Fatal(err)
	}
	run.ends(7)
}

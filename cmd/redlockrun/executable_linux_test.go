package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// writeExecutable writes a file that can be executed, and leased, at once. A process that this one
// starts meanwhile would have it open for writing until its own execve(2), and its execution would
// fail with ETXTBSY in that time.
func writeExecutable(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestAFileWrittenDuringOtherTestsCanBeExecuted(t *testing.T) {
	dir, over := t.TempDir(), make(chan struct{})
	var others sync.WaitGroup
	defer others.Wait()
	defer close(over)
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					exec.Command("true").Run()
				}
			}
		})
	}
	for n := range 300 {
		path := filepath.Join(dir, fmt.Sprint(n))
		writeExecutable(t, path, "#!/bin/sh\n")
		if err := exec.Command(path).Run(); err != nil {
			t.Fatal(err)
		}
	}
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// copies is how many fresh copies of a program are measured.
const copies = 3

// fresh are copies of the program in dir, each as make install makes it.
func fresh(program, dir string) (placed []string, err error) {
	for range copies {
		own, err := os.MkdirTemp(dir, "copy")
		if err != nil {
			return nil, err
		}
		path := filepath.Join(own, "redlockrun")
		if out, err := exec.Command("scripts/place.sh", program, path).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("place %s: %w: %s", program, err, out)
		}
		placed = append(placed, path)
	}
	return placed, nil
}

// evict makes the kernel forget what it keeps of a file: the next run reads
// it from the disk, in the pieces that the kernel then thinks fit.
func evict(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // what is not on the disk yet stays
		return err
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("evict %s: %w", path, err)
	}
	n, err := resident(f)
	if err == nil && n > 0 {
		err = fmt.Errorf("evict %s: %d pages stay", path, n)
	}
	return err
}

// resident is how many pages of a file are in memory.
func resident(f *os.File) (n int, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	pages := make([]byte, (len(mapped)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)),
		uintptr(unsafe.Pointer(&pages[0])))
	if e != 0 {
		err = fmt.Errorf("count pages of %s: %w", f.Name(), e)
	}
	for _, page := range pages {
		n += int(page & 1)
	}
	return n, errors.Join(err, unix.Munmap(mapped))
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// overlaps is the file in which commands write that another command had one of their permits.
const overlaps = "overlaps"

// permittedMain is a command for tests: permitted DIR DURATION. It takes the kernel's lock of each permit that
// it has, and works for so long. The locks end with the process, even if it is killed.
func permittedMain() {
	dir, numbers := os.Args[1], strings.Fields(os.Getenv("REDLOCKRUN_PERMIT"))
	length, err := time.ParseDuration(os.Args[2])
	must(err)
	var files []*os.File
	for _, n := range numbers {
		file, err := os.OpenFile(filepath.Join(dir, n), os.O_CREATE|os.O_RDWR, 0o600)
		must(err)
		takeAlone(dir, n, file)
		files = append(files, file)
	}
	logLine(filepath.Join(dir, "runs"), strconv.Itoa(len(numbers)))
	time.Sleep(length) // the work
	for _, file := range files {
		file.Close()
	}
}

// takeAlone takes the kernel's lock of permit n. If another process has it, it writes down for how long.
func takeAlone(dir, n string, file *os.File) {
	take := func() bool { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
	if take() {
		return
	}
	began := time.Now()
	defer func() { logLine(filepath.Join(dir, overlaps), fmt.Sprintf("permit %s: %s", n, time.Since(began))) }()
	for range time.Tick(time.Millisecond) {
		if take() || time.Since(began) > time.Second {
			return
		}
	}
}

func logLine(path, line string) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(err)
	_, err = file.WriteString(line + "\n")
	must(err)
	must(file.Close())
}

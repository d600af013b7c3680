//go:build linux

package nemesis

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var errNobody = errors.New("there is no such process")

// killIf kills a process if this is among its words: its number may have become another's.
func killIf(pid int, word string) error {
	words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if !bytes.Contains(words, []byte(word)) {
		return errNobody
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// killChild kills the child of a process whose first word this is.
func killChild(pid int, first string) error {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(text)) {
			words, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if name, _, _ := strings.Cut(string(words), "\x00"); name == first {
				number, _ := strconv.Atoi(child)
				return syscall.Kill(number, syscall.SIGKILL)
			}
		}
	}
	return errNobody
}

// left are the processes that still have a word among theirs.
func left(word string) (some []string) {
	lists, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, list := range lists {
		words, _ := os.ReadFile(list)
		if bytes.Contains(words, []byte(word)) {
			some = append(some, fmt.Sprintf("%s: %q", filepath.Dir(list),
				bytes.ReplaceAll(words, []byte{0}, []byte(" "))))
		}
	}
	return some
}

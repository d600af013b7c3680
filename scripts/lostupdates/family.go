//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// family is a process with all that descend from it, the elder first: the wrapper, its guard,
// the job and what the job has started.
func family(pid int) []int {
	all := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				all = append(all, family(n)...)
			}
		}
	}
	return all
}

// marked are the processes that live and have an entry in their environment.
func marked(entry string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environ, err := os.ReadFile(dir + "/environ") // of a zombie it is empty
		if err != nil || !bytes.Contains(environ, []byte(entry+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

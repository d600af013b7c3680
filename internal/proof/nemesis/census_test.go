//go:build linux

package nemesis

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A process is one that was started for a run.
type process struct {
	pid  int
	kind kind
	name string
}

// A kind is the purpose of a process of a run.
type kind string

const (
	wrapper   kind = "redlockrun"
	guarded   kind = "guard"   // lease-guard
	starter   kind = "starter" // forked for the command, which it has not executed yet
	commanded kind = "command" // or a process of it
)

// traces tell the processes of a run: a mark in their environment, and the file that they
// execute, because a guard has no environment.
type traces struct{ mark, program string }

// census returns the processes of a run that live. A process to which SIGKILL was sent does not
// count, even if the kernel has not removed it yet: on a machine that stands still for seconds
// it does not run on.
func (r traces) census() (found []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if one, ok := r.look(dir); ok {
			found = append(found, one)
		}
	}
	return found
}

// child returns the child of the process pid that is of a kind; ok is false if there is none.
func (r traces) child(pid int, wanted kind) (one process, ok bool) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for child := range strings.FieldsSeq(string(text)) {
			if one, ok = r.look("/proc/" + child); ok && one.kind == wanted {
				return one, true
			}
		}
	}
	return one, false
}

func (r traces) look(dir string) (one process, ok bool) {
	environ, _ := os.ReadFile(dir + "/environ")
	file, _ := os.Readlink(dir + "/exe")
	if !bytes.Contains(environ, []byte(r.mark+"\x00")) && file != r.program || dying(dir) {
		return one, false
	}
	words, _ := os.ReadFile(dir + "/cmdline")
	one.pid, _ = strconv.Atoi(filepath.Base(dir))
	one.name = strings.ReplaceAll(string(words), "\x00", " ")
	switch first, _, _ := strings.Cut(string(words), "\x00"); {
	case file != r.program:
		one.kind = commanded
	case first == "lease-guard":
		one.kind = guarded
	case startedHere(dir):
		one.kind = wrapper
	default:
		one.kind = starter
	}
	return one, len(words) > 0
}

// startedHere reports whether a process is a child of this test.
func startedHere(dir string) bool {
	stat, _ := os.ReadFile(dir + "/stat")
	_, behind, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(behind)
	return len(words) > 1 && words[1] == strconv.Itoa(os.Getpid())
}

// dying reports whether a process is a zombie, or has been sent SIGKILL.
func dying(dir string) bool {
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return true
			}
		case "SigPnd", "ShdPnd":
			if set, _ := strconv.ParseUint(value, 16, 64); set&(1<<(syscall.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}

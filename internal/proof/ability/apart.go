package ability

import "os/exec"

// apart are the words that run what follows in a PID namespace of its own, with its own /proc.
var apart = []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}

// Apart returns words, to be executed, that run argv so that no process outlives it, not even
// one of another session, where this machine allows that; else argv. Who ends it kills it.
func Apart(argv ...string) []string {
	if exec.Command(apart[0], append(apart[1:len(apart):len(apart)], "true")...).Run() != nil {
		return argv
	}
	return append(apart[:len(apart):len(apart)], argv...)
}

//go:build !linux

package redistest

import "os/exec"

// startBound starts a process; if this one is killed, it stays behind.
func startBound(cmd *exec.Cmd) error { return cmd.Start() }

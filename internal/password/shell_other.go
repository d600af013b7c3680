//go:build !linux

package password

import "redlockrun/internal/lock"

// fetch always fails: only Linux can keep a command in bounds.
func (c *Command) fetch() (string, error) {
	return "", &lock.PasswordError{Problem: "running a command needs Linux", Final: true}
}

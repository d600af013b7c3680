package main

import (
	"redlockrun/internal/config"
	"redlockrun/internal/password"
)

// openPasswordCommand makes the configured command supply the servers' passwords, until the
// returned function is called.
func openPasswordCommand(c *config.Config) (end func()) {
	if c.PasswordCommand == "" || c.Address.Local {
		return func() {}
	}
	command := password.New(c.PasswordCommand)
	c.Servers.Passwords = command
	return command.Close
}

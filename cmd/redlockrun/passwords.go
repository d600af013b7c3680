package main

import (
	"redlockrun/internal/config"
	"redlockrun/internal/password"
)

// openPasswordCommand lets the command that was named tell the passwords of the servers, until the
// function that it returns is called.
func openPasswordCommand(c *config.Config) (end func()) {
	if c.PasswordCommand == "" || c.Address.Local {
		return func() {}
	}
	command := password.New(c.PasswordCommand)
	c.Servers.Passwords = command
	return command.Close
}

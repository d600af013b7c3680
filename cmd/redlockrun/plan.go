package main

import (
	"redlockrun/internal/config"
	"redlockrun/internal/password"
)

// A plan is what one run is to do.
type plan struct {
	config.Config
	command []string // and its arguments
	place   string   // how a message names the store; "" until it is open
}

// where names the store and the source of its address.
func (c *plan) where() string { return c.place + ", " + c.Address.Whence() }

// takePasswords lets the command that was named tell the passwords of the servers, until the
// function that it returns is called.
func (c *plan) takePasswords() (end func()) {
	if c.PasswordCommand == "" || c.Address.Local {
		return func() {}
	}
	command := password.New(c.PasswordCommand)
	c.Servers.Passwords = command
	return command.Close
}

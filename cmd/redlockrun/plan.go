package main

import "redlockrun/internal/config"

// A plan is what one run is to do.
type plan struct {
	config.Config
	command []string // and its arguments
	place   string   // how a message names the store; "" until it is open
}

// where names the store and the source of its address.
func (c *plan) where() string { return c.place + ", " + c.Address.Whence() }

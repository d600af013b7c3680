package explain

import "redlockrun/internal/config"

// An About is the context of a message: the settings, and how to name the store.
type About struct {
	Config config.Config
	Place  string // how a message names the store; "" until it is open
}

// Where names the store and the source of its address.
func (c *About) Where() string { return c.Place + ", " + c.Config.Address.FromSource() }

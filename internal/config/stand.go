package config

// checkStand refuses --on-lost pause for a local lock, and where one try does not fit before the
// end of the lease.
func (c Config) checkStand() error {
	if c.OnLost != PauseCommand {
		return nil
	}
	if c.Address.Local {
		return Usagef("%s and %s cannot be combined: a file of this host is never away",
			c.Source("on-lost"), c.Address.From).Hint("--on-lost stop takes it back")
	}
	t := c.Times
	t.Grace = max(t.Grace, t.Try)
	if !t.Fit() {
		return Usagef("a ttl of %s is too short for renewals every %s, two tries of %s, and one to stop the command",
			Rounded(t.TTL), Rounded(t.Renew), Rounded(t.Try)).Hint("use a longer --ttl, or a shorter --renew-every")
	}
	return nil
}

package main

import "redlockrun/internal/lock"

// fileSettings are the settings behind the fields of lock.Servers that name files.
var fileSettings = map[string]string{
	"CA": "redis-ca", "Cert": "redis-cert", "Key": "redis-key",
	"PasswordFile": "redis-password-file", "SentinelPasswordFile": "sentinel-password-file",
}

// whence is where what is wrong came from.
func (c *plan) whence(wrong *lock.ConfigError) string {
	if setting := fileSettings[wrong.Field]; setting != "" {
		if source := c.Source(setting); source != "" {
			return "from " + source
		}
	}
	return c.Address.Whence()
}

// advice is what to do about what is wrong, in the words of the command line.
func (c *plan) advice(wrong *lock.ConfigError) string {
	switch {
	case wrong.Reason == lock.SeveralHosts:
		return "several servers are a redis+sentinel:// or redis+cluster:// URL, or several --redis for a quorum"
	case wrong.Reason == lock.OddParameter:
		return "times and TLS are set by --redis-timeout, rediss:// and --redis-ca"
	case wrong.Reason == lock.OddSentinelParameter:
		return "times and TLS are set by --redis-timeout, rediss+sentinel:// and --redis-ca"
	case wrong.Reason == lock.TwoMasters:
		return "give one --redis, or three or five for a quorum"
	case c.Address.Local && wrong.Hint != "":
		return wrong.Hint + ": --local=DIR"
	}
	return wrong.Hint
}

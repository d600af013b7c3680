package explain

import "redlockrun/internal/lock"

// fileSettings are the settings behind the fields of lock.Servers that name files.
var fileSettings = map[string]string{
	"CA": "redis-ca", "Cert": "redis-cert", "Key": "redis-key",
	"PasswordFile": "redis-password-file", "SentinelPasswordFile": "sentinel-password-file",
}

// fromSource says where the name of a file came from, or with "" the address.
func (c *About) fromSource(field string) string {
	if setting := fileSettings[field]; setting != "" {
		if source := c.Config.Source(setting); source != "" {
			return "from " + source
		}
	}
	return c.Config.Address.FromSource()
}

// advice says how to correct a wrong address, in the words of the command line.
func (c *About) advice(wrong *lock.ConfigError) string {
	switch {
	case wrong.Reason == lock.SeveralHosts:
		return "for several servers, use redis+sentinel:// or redis+cluster://, or several --redis for a quorum"
	case wrong.Reason == lock.UnknownParameter:
		return "use --redis-timeout for times; rediss:// and --redis-ca for TLS"
	case wrong.Reason == lock.UnknownSentinelParameter:
		return "use --redis-timeout for times; rediss+sentinel:// and --redis-ca for TLS"
	case wrong.Reason == lock.TwoMasters:
		return "use one --redis, or three or five for a quorum"
	case c.Config.Address.Local && wrong.Hint != "":
		return wrong.Hint + ": --local=DIR"
	}
	return wrong.Hint
}

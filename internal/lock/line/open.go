package line

import (
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
)

// Open returns the store that one URL leads to. It asks nobody: a server that is
// down is found by Acquire. Its error is a *ConfigError, or that descriptors or
// memory were wanting.
func Open(cfg lock.Servers) (lock.Store, error) {
	if cfg.Replicas < 0 {
		return nil, &lock.ConfigError{Subject: "the number of replicas", Problem: "it is negative"}
	}
	src, err := sourceOf(cfg)
	if err != nil {
		return nil, err
	}
	return newRedisStore(src, cfg), nil
}

func sourceOf(cfg lock.Servers) (*link.Source, error) {
	if err := lock.CheckPrefix(cfg.Prefix); err != nil {
		return nil, err
	}
	if len(cfg.URLs) != 1 {
		return nil, link.BadURL("there must be one", "")
	}
	return link.NewSource(cfg, cfg.URLs[0])
}

// PlainPassword is the host that a password is sent to without TLS although it is not
// this machine, or "". It is for a warning: a URL that cannot be used has none.
func PlainPassword(cfg lock.Servers) (host string) { return link.PlainPassword(cfg) }

package lock

// Open returns the store that one URL leads to. It asks nobody: a server that is
// down is found by Acquire. Its error is a *ConfigError, or that descriptors or
// memory were wanting.
func Open(cfg OpenConfig) (Store, error) {
	if err := checkPrefix(cfg.Prefix); err != nil {
		return nil, err
	}
	if cfg.Replicas < 0 {
		return nil, &ConfigError{Subject: "the number of replicas", Problem: "it is negative"}
	}
	if len(cfg.URLs) != 1 {
		return nil, badURL("there must be one", "")
	}
	src, err := newSource(cfg, cfg.URLs[0])
	if err != nil {
		return nil, err
	}
	return newRedisStore(src, cfg), nil
}

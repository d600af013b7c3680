package line

import (
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/inspect"
)

// OpenInspector returns what reads the jobs that one URL leads to. It asks nobody; its
// errors are those of Open.
func OpenInspector(cfg lock.Servers, i lock.Inspection) (lock.Inspector, error) {
	src, err := sourceOf(cfg)
	if err != nil {
		return nil, err
	}
	return inspect.New(src, cfg.Prefix, i), nil
}

package main

import (
	"runtime"
	"runtime/debug"
)

// version is what --version prints: the module's version, or the commit that
// it was built from.
func version() string {
	name := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		name = info.Main.Version
	}
	return "redlockrun " + name + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // an image from scratch has no zones
)

// zone returns the local time of this process: that of TZ, else the host's.
func zone(env Lookup, host *time.Location) (*time.Location, error) {
	tz, set := env("TZ")
	if !set {
		return host, nil
	}
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" {
		return time.UTC, nil // as in libc
	}
	if there, err := load(tz); err == nil {
		return there, nil
	}
	return nil, Usagef("TZ: %s is not a known time zone", quotableZone(tz)).
		Hint("use a name like Europe/Berlin, or unset TZ for the host's local time; " +
			"slots of an hour or less are UTC")
}

var errUnknownZone = errors.New("not a time zone")

func load(tz string) (*time.Location, error) {
	switch {
	case tz == "Local": // the host's zone for Go, no zone for libc
		return nil, errUnknownZone
	case !filepath.IsAbs(tz):
		return time.LoadLocation(tz)
	}
	data, err := os.ReadFile(tz)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(tz, data)
}

// quotableZone is quotable for a text that may have slashes.
func quotableZone(tz string) string {
	if quotable(strings.ReplaceAll(tz, "/", "")) == "the value" {
		return "the value"
	}
	return strconv.Quote(tz)
}

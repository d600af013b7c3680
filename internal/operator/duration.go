package operator

import (
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
)

// A span is a flag's duration.
type span time.Duration

func (d *span) Set(word string) error {
	parsed, err := config.ParseDuration(word)
	if err != nil {
		return config.Usagef("%v", err).
			Hint("a duration is a number of seconds (60, 0.5) or has units (90s, 2m30s)")
	}
	*d = span(parsed)
	return nil
}

func (d *span) String() string { return time.Duration(*d).String() }
func (d *span) Type() string   { return "duration" }

// An age is a flag's duration that may be a number of days, as --max-age of a run may.
type age time.Duration

func (d *age) Set(word string) error {
	parsed, err := config.ParseAge(word)
	if err != nil {
		return config.Usagef("%v", err).
			Hint("a duration is a number of seconds (60, 0.5) or has units (90s, 2m30s), or 1d, 7d")
	}
	*d = age(parsed)
	return nil
}

func (d *age) String() string { return time.Duration(*d).String() }
func (d *age) Type() string   { return "duration" }

// A limit is a flag's duration that may have no end; 0 if the flag is not set.
type limit time.Duration

func (d *limit) Set(word string) error {
	if word == "forever" {
		*d = limit(lock.Forever)
		return nil
	}
	var s span
	if err := s.Set(word); err != nil {
		return err
	}
	*d = limit(s)
	return nil
}

func (d *limit) String() string { return time.Duration(*d).String() }
func (d *limit) Type() string   { return "duration" }

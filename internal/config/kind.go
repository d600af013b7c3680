package config

import "strings"

// A Kind is the kind of a flag's value. Help, manual and completion read it.
type Kind uint8

// Kinds of values. KindSwitch has none.
const (
	KindSwitch Kind = iota
	KindJob
	KindNumber
	KindSize
	KindDuration
	KindLimit // a duration, or forever
	KindShare // a number, or all
	KindPeriod
	KindText
	KindShellText
	KindID
	KindKeptRun // the id of a run whose output is kept
	KindPattern
	KindHost
	KindFile
	KindPath
	KindDirectory
	KindOptionalDirectory
	KindURL
	KindOnLost
	KindLogLevel
	KindLogFormat
	KindShell
)

// An Offer says how a shell completes a value.
type Offer uint8

// Ways in which a shell completes a value. OfferBeginnings are words behind which more is typed.
const (
	OfferWords Offer = iota
	OfferBeginnings
	OfferJobs
	OfferKeptRuns
	OfferFiles
	OfferDirectories
)

var kinds = [...]struct {
	value string // its name in the help; "": the words, which are all valid values
	offer Offer
	words string
}{
	KindJob:               {value: "NAME", offer: OfferJobs},
	KindNumber:            {value: "N"},
	KindSize:              {value: "SIZE", offer: OfferBeginnings, words: "4k 16k 64k"},
	KindDuration:          {value: "D"},
	KindLimit:             {value: "D", words: "forever"},
	KindShare:             {value: "K|all", words: "all"},
	KindPeriod:            {value: "P", words: "5m 10m 15m 20m 30m 1h 2h 3h 4h 6h 8h 12h 1d 7d"},
	KindText:              {value: "TEXT"},
	KindShellText:         {value: "'SHELL TEXT'"},
	KindID:                {value: "ID"},
	KindKeptRun:           {value: "ID", offer: OfferKeptRuns},
	KindPattern:           {value: "'PATTERN'"},
	KindHost:              {value: "HOST"},
	KindFile:              {value: "FILE", offer: OfferFiles},
	KindPath:              {value: "PATH", offer: OfferFiles},
	KindDirectory:         {value: "DIR", offer: OfferDirectories},
	KindOptionalDirectory: {value: "[=DIR]", offer: OfferDirectories},
	KindURL: {value: "URL", offer: OfferBeginnings, words: "redis:// rediss:// unix:/// redis+sentinel:// " +
		"rediss+sentinel:// redis+cluster:// rediss+cluster:// file:"},
	KindOnLost:    {words: "stop continue pause"},
	KindLogLevel:  {words: "debug info warn error"},
	KindLogFormat: {words: "text json"},
	KindShell:     {words: "bash zsh fish"},
}

// Value returns the help's name for the value; "" for a switch.
func (k Kind) Value() string {
	if kinds[k].value == "" {
		return strings.Join(k.Words(), "|")
	}
	return kinds[k].value
}

// Words returns the words that a shell offers.
func (k Kind) Words() []string { return strings.Fields(kinds[k].words) }

// Offer returns how a shell completes the value.
func (k Kind) Offer() Offer { return kinds[k].offer }

// Choices returns the valid words; nil if other values are valid, too.
func (k Kind) Choices() []string {
	if kinds[k].value != "" || kinds[k].words == "" {
		return nil
	}
	return k.Words()
}

// Implied returns the value of a flag that stands without one; "" if it needs a value.
func (k Kind) Implied() string {
	if k == KindSwitch || k == KindOptionalDirectory {
		return "true"
	}
	return ""
}

// Flag returns a flag of this kind as the help names it, without its letter.
func (k Kind) Flag(name string) string {
	if k.Implied() != "" {
		return "--" + name + k.Value()
	}
	return "--" + name + " " + k.Value()
}

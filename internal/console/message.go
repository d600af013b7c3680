package console

// A Message is what is said at once.
type Message struct {
	Level  Level
	Event  string   // what it is about: one of the names of events
	Text   string   // for people
	Err    error    // why, which follows the text; nil if there is nothing to say of that
	Fields []Field  // for programs
	Hints  []string // what to do next; in text each is a line of its own
}

// A Field is one thing that a program wants to know.
type Field struct {
	Name   string
	Value  any  // a string, an int or an int64
	InText bool // a line of text shows it, too: the message does not say it
}

// A Level is how much a message matters.
type Level int8

// The levels, from what matters least.
const (
	Debug Level = iota
	Info
	Warning
	Error
)

// LevelOf is the level that a user calls debug, info, warn or error, and Warning for any
// other name.
func LevelOf(name string) Level {
	switch name {
	case "debug":
		return Debug
	case "info":
		return Info
	case "error":
		return Error
	}
	return Warning
}

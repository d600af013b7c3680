package console

// A Message is one message to the user.
type Message struct {
	Level  Level
	Event  string   // the name of the event
	Text   string   // for people
	Err    error    // the reason, which follows the text; may be nil
	Fields []Field  // for programs
	Hints  []string // what to do next; each is a line of text
}

// A Field is a value for programs.
type Field struct {
	Name   string
	Value  any  // a string, an int or an int64
	InText bool // the line of text shows it, too
}

// A Level is the importance of a message.
type Level int8

// The levels, the least important first.
const (
	Debug Level = iota
	Info
	Warning
	Error
)

// LevelOf returns the level that a user calls debug, info, warn or error, and Warning for any
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

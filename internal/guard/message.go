package guard

// A Kind says what a message tells the guard.
type Kind byte

// The messages.
const (
	Starting Kind = 'S' // a command is about to be started in session Value with Text in its environment
	Forked   Kind = 'F' // its process group is Value, unless it cannot be executed: then Starting comes again
	Watch    Kind = 'W' // the command's process group is Value
	Deadline Kind = 'D' // kill the group at Value, CLOCK_BOOTTIME in ns; 0: never
	Park     Kind = 'P' // the group is stopped; once it runs beyond the deadline, Value looks pass it over
	Unpark   Kind = 'U' // the deadline counts again
)

// Size is the length of every message: small enough that a write to a pipe is
// atomic (PIPE_BUF, pipe(7)), large enough for an entry of the environment.
const Size = 128

// ValueAt is the position of Value in an encoded message: eight bytes, the least significant one
// first.
const ValueAt = 1

const (
	textAt  = 10
	maxText = Size - textAt
)

// A Message is one order to a guard.
type Message struct {
	Kind  Kind
	Value int64
	Text  string // at most 118 bytes; a longer text is left out
}

// Encode returns the message in the format of the pipe.
func (m Message) Encode() []byte {
	b := make([]byte, Size)
	b[0] = byte(m.Kind)
	for i := range 8 {
		b[ValueAt+i] = byte(m.Value >> (8 * i))
	}
	if len(m.Text) <= maxText {
		b[textAt-1] = byte(len(m.Text))
		copy(b[textAt:], m.Text)
	}
	return b
}

// decode reads the result of Encode. b is Size bytes long.
func decode(b []byte) Message {
	m := Message{Kind: Kind(b[0])}
	for i := range 8 {
		m.Value |= int64(b[ValueAt+i]) << (8 * i)
	}
	m.Text = string(b[textAt:min(textAt+int(b[textAt-1]), Size)])
	return m
}

package console

import (
	"os"

	"golang.org/x/term"
)

// A Display is where a table appears.
type Display struct {
	Terminal bool // else a file, a pipe or a socket
	Width    int  // in columns of the terminal; 0: there is no limit
	Height   int  // in lines of the terminal; 0: it is unknown, or there is none
	Color    bool // and bold, and faint
}

// A Style is the look of a text, where there are colours.
type Style int

// The styles.
const (
	StylePlain Style = iota
	StyleGood
	StyleWarning
	StyleBad
	StyleFaint
	StyleBold
)

// DisplayOf describes where a file leads. Only a terminal has a width and colours. env answers as
// os.LookupEnv does: NO_COLOR and a dumb TERM turn colours off.
func DisplayOf(f *os.File, env func(name string) (value string, set bool)) Display {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return Display{}
	}
	width, height, err := term.GetSize(fd)
	if err != nil {
		width, height = 0, 0
	}
	none, _ := env("NO_COLOR")
	kind, _ := env("TERM")
	return Display{Terminal: true, Width: width, Height: height, Color: none == "" && kind != "dumb" && kind != ""}
}

// Paint returns a text in a style.
func (d Display) Paint(text string, tone Style) string {
	codes := [...]string{StyleGood: "32", StyleWarning: "33", StyleBad: "31", StyleFaint: "2", StyleBold: "1"}
	if !d.Color || tone == StylePlain {
		return text
	}
	return "\x1b[" + codes[tone] + "m" + text + "\x1b[0m"
}

package console

import (
	"os"

	"golang.org/x/term"
)

// DisplayOf is what is known of the place that a file leads to. What is no terminal has no
// limit and no colours. env answers as os.LookupEnv does: NO_COLOR and a dumb TERM do
// without colours.
func DisplayOf(f *os.File, env func(name string) (value string, set bool)) Display {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return Display{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	none, _ := env("NO_COLOR")
	kind, _ := env("TERM")
	return Display{Width: width, Color: none == "" && kind != "dumb" && kind != ""}
}

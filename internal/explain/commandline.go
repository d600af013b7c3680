package explain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CommandLine returns a redlockrun command, as a user types it for a job.
func CommandLine(command string, names ...string) string {
	words := []string{"redlockrun", command}
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			words = append(words, "--")
			break
		}
	}
	for _, name := range names {
		words = append(words, ShellWord(name))
	}
	return strings.Join(words, " ")
}

// ShellWord quotes a name for a shell, in visible letters: characters that a terminal would not
// show as they are stand in $'...', which bash, ksh, zsh and busybox know.
func ShellWord(name string) string {
	switch {
	case name != "" && name[0] != '=' && strings.Trim(name, wordLetters) == "": // zsh looks up what begins with =
		return name
	case utf8.ValidString(name) && strings.IndexFunc(name, isUnseen) < 0:
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	var out strings.Builder
	for i, r := range name {
		switch _, size := utf8.DecodeRuneInString(name[i:]); {
		case r == '\'' || r == '\\':
			out.WriteString(`\` + string(r))
		case isUnseen(r) || r == utf8.RuneError:
			for _, b := range []byte(name[i : i+size]) {
				fmt.Fprintf(&out, `\%03o`, b) // characters behind hexadecimal digits could be read as digits
			}
		default:
			out.WriteRune(r)
		}
	}
	return "$'" + out.String() + "'"
}

func isUnseen(r rune) bool { return !unicode.IsPrint(r) }

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+,%="

package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// textOf formats a message as lines for people:
//
//	redlockrun: warning: TEXT: ERROR (FIELD=VALUE FIELD=VALUE)
//	redlockrun: hint: HINT
func textOf(context []Field, m Message) []byte {
	var out, rest strings.Builder
	out.WriteString("redlockrun: " + m.Level.name() + ": " + Printable(m.Text))
	if m.Err != nil && m.Err.Error() != "" {
		out.WriteString(": " + Printable(m.Err.Error()))
	}
	for _, f := range slices.Concat(context, m.Fields) {
		if f.InText {
			rest.WriteString(" " + f.Name + "=" + Printable(fmt.Sprint(f.Value)))
		}
	}
	if rest.Len() > 0 {
		out.WriteString(" (" + rest.String()[1:] + ")")
	}
	out.WriteByte('\n')
	for _, hint := range m.Hints {
		out.WriteString("redlockrun: hint: " + Printable(hint) + "\n")
	}
	return []byte(out.String())
}

func (l Level) name() string {
	return [...]string{"debug", "info", "warning", "error"}[l]
}

// Printable escapes what a terminal would interpret: much of a message comes from Redis, where any
// client may have written it. It replaces what is not UTF-8.
func Printable(text string) string {
	return escape(string([]rune(text)), func(r rune) string {
		quoted := strconv.QuoteToASCII(string(r))
		return quoted[1 : len(quoted)-1]
	})
}

// escape replaces what cannot be printed.
func escape(text string, with func(rune) string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			out.WriteString(with(r))
		}
	}
	return out.String()
}

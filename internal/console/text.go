package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain turns one line of zerolog's JSON into lines for people:
//
//	redlockrun: warning: MESSAGE: ERROR (FIELD=VALUE FIELD=VALUE)
//	redlockrun: hint: HINT
func plain(line []byte) []byte {
	said, err := parseFields(line)
	if err != nil {
		return []byte("redlockrun: " + printable(string(line)) + "\n")
	}
	var out, rest strings.Builder
	fmt.Fprintf(&out, "redlockrun: %s: %s", levelWords[said.text("level")], printable(said.text("message")))
	if cause := said.text("error"); cause != "" {
		out.WriteString(": " + printable(cause))
	}
	for _, f := range said {
		if !inWords(f.name) {
			fmt.Fprintf(&rest, " %s=%s", f.name, printable(f.text()))
		}
	}
	if rest.Len() > 0 {
		out.WriteString(" (" + rest.String()[1:] + ")")
	}
	out.WriteByte('\n')
	for _, hint := range said.list(HintField) {
		out.WriteString("redlockrun: hint: " + printable(hint) + "\n")
	}
	return []byte(out.String())
}

var levelWords = map[string]string{"debug": "debug", "info": "info", "warn": "warning", "error": "error"}

// A field is one name and value of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

type fields []field

// parseFields keeps the order in which the fields were logged.
func parseFields(line []byte) (fields, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var all fields
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: fmt.Sprint(name)}
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func (f field) text() string {
	var s string
	if json.Unmarshal(f.value, &s) == nil {
		return s
	}
	return string(f.value)
}

func (all fields) text(name string) string {
	for _, f := range all {
		if f.name == name {
			return f.text()
		}
	}
	return ""
}

func (all fields) list(name string) (list []string) {
	for _, f := range all {
		if f.name == name {
			_ = json.Unmarshal(f.value, &list) // only this file's callers write it
		}
	}
	return list
}

// printable escapes what a terminal would act upon: much of a message comes
// from Redis, where anybody may have written it.
func printable(text string) string {
	return escape(text, func(r rune) string {
		quoted := strconv.QuoteToASCII(string(r))
		return quoted[1 : len(quoted)-1]
	})
}

// escapeJSON does the same inside a line of JSON, whose own control characters
// below space zerolog has escaped.
func escapeJSON(line []byte) []byte {
	body, end := bytes.CutSuffix(line, []byte("\n"))
	escaped := escape(string(body), func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
	if end {
		escaped += "\n"
	}
	return []byte(escaped)
}

func escape(text string, with func(rune) string) string {
	var out strings.Builder
	for i, r := range text {
		if r == utf8.RuneError && text[i] != "\uFFFD"[0] {
			fmt.Fprintf(&out, `\x%02x`, text[i])
		} else if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			out.WriteString(with(r))
		}
	}
	return out.String()
}

package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
)

// LastBytes is the most that is shown of the output of one run among others.
const LastBytes = 4 << 10

// Readable is what a command printed as text for a terminal or a page: lines and tabs stay, other control characters
// are
// escaped, and what is not UTF-8 becomes U+FFFD.
func Readable(output []byte) string {
	lines := strings.Split(string(output), "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for k, part := range parts {
			parts[k] = console.Printable(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// LastLines is the end of an output, readable, of at most LastBytes. It begins with a line if it can. about says how
// much of the output it is.
func LastLines(o lock.Output) (text, about string) {
	tail := o.Tail[max(0, len(o.Tail)-LastBytes):]
	if int64(len(tail)) < o.Total {
		tail = wholeLines(tail)
	}
	return strings.TrimRight(Readable(tail), "\n"), HowMuch(o, len(tail))
}

// wholeLines is an end of a text without what the cut left of its first line, or of its first character.
func wholeLines(tail []byte) []byte {
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		return tail[i+1:]
	}
	for n := 0; n < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); n++ {
		tail = tail[1:]
	}
	return tail
}

// HowMuch says how much of an output there is, if so many of its last bytes are shown: the last 64 KiB of 10 MiB.
func HowMuch(o lock.Output, shown int) string {
	switch {
	case o.Total == 0:
		return "nothing was printed"
	case int64(shown) >= o.Total:
		return "all " + size(o.Total)
	}
	return "the last " + size(int64(shown)) + " of " + size(o.Total)
}

// size is a number of bytes: 1 byte, 312 bytes, 1.5 KiB, 64 KiB, 10 MiB.
func size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	value, unit := float64(n), 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	switch {
	case n == 1:
		return "1 byte"
	case value < 10 && unit > 0:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(int64(value*10))/10), ".0") + " " + units[unit]
	}
	return fmt.Sprintf("%d %s", int64(value), units[unit])
}

// WithOutputs are the lines of History, a line for each of its last entries, each followed by the last lines of its
// output.
func WithOutputs(lines []string, entries []lock.Entry, outputs []lock.Output) (all []string) {
	head := len(lines) - len(entries)
	for i, line := range lines {
		all = append(all, line)
		if i < head || entries[i-head].Act != "" {
			continue
		}
		if o, ok := OutputOf(outputs, entries[i-head].Run); ok {
			text, about := LastLines(o)
			all = append(all, "  [run "+lock.Escaped(o.Run)+", "+about+"]")
			for line := range strings.Lines(text) {
				all = append(all, "  "+strings.TrimRight(line, "\n"))
			}
		}
	}
	return all
}

// OutputOf is the output of a run; ok is false if none is kept.
func OutputOf(outputs []lock.Output, run string) (o lock.Output, ok bool) {
	i := slices.IndexFunc(outputs, func(o lock.Output) bool { return o.Run == run })
	if i < 0 || run == "" {
		return lock.Output{}, false
	}
	return outputs[i], true
}

// EntryOf is what is known of the run that printed an output: its entry, or what the output itself says.
func EntryOf(o lock.Output, entries []lock.Entry) lock.Entry {
	for _, e := range entries {
		if e.Run == o.Run && e.Act == "" {
			return e
		}
	}
	return lock.Entry{Run: o.Run, Host: o.Host, Ended: o.Ended, End: o.End, Status: o.Status, Attempts: o.Attempt}
}

// AboutOutput says which run printed an output, when and how it ended, and how much there is.
func AboutOutput(name string, o lock.Output, e lock.Entry, now time.Time, zone *time.Location) string {
	text := fmt.Sprintf("run %s of %q%s ended %s", lock.Escaped(o.Run), name, on(e), Zoned(o.Ended, zone))
	if d, ok := Since(o.Ended, now); ok && !now.IsZero() {
		text += ", " + Ago(d)
	}
	text += ": " + EndOf(e).Text
	if o.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", o.Attempt)
	}
	return text + "; " + HowMuch(o, len(o.Tail))
}

// Later says how the last run ended, if that is not the one of an output.
func Later(j lock.Job, o lock.Output) string {
	last := j.LastEnd
	switch {
	case j.Vanished() && j.Open.Run != o.Run:
		return "a later run" + on(j.Open) + " has vanished; its output is not kept"
	case last.Run == "" || last.Run == o.Run || !last.Ended.After(o.Ended):
		return ""
	}
	return "a later run " + ending(last, j.Now) + "; its output is not kept"
}

// tailOf is the last lines of the last run, if they are known.
func tailOf(j lock.Job) (text string, ok bool) {
	return j.Tail.Text, j.Tail.Text != "" && j.Tail.Run == j.LastEnd.Run && !j.Vanished()
}

// maxLastLine is the most characters that LastLine has.
const maxLastLine = 80

// lastLine is the last line that the last run printed, for a line that has others: without control characters and bars.
func lastLine(j lock.Job) string {
	tail, _ := tailOf(j)
	lines := strings.FieldsFunc(tail, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if plain := []rune(plainLine(line)); len(plain) > maxLastLine {
			return string(plain[:maxLastLine-1]) + "…"
		} else if len(plain) > 0 {
			return string(plain)
		}
	}
	return ""
}

// plainLine is a text without the sequences that steer a terminal, and with one blank in the place of what cannot be
// printed.
func plainLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '|':
			return '¦'
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, withoutSequences(text))
	return strings.Join(strings.Fields(text), " ")
}

// withoutSequences is a text without what steers a terminal: ESC [ parameters letter.
func withoutSequences(text string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text = strings.TrimLeft(after, "0123456789;:<=>?")
		if text != "" && text[0] >= '@' && text[0] <= '~' {
			text = text[1:]
		}
	}
}

// outputObject is what is kept of an output, for programs.
type outputObject struct {
	Output *string `json:"output,omitempty"`
	Base64 string  `json:"output_base64,omitempty"`
	Bytes  *int64  `json:"output_bytes,omitempty"`
}

// OutputObject is an entry with the output of its run, if that is kept, for programs, to be written as JSON.
func OutputObject(e lock.Entry, outputs []lock.Output) any {
	o := object(e)
	if kept, ok := OutputOf(outputs, e.Run); ok && e.Act == "" {
		o.outputObject = outputObjectOf(kept)
	}
	return o
}

func outputObjectOf(o lock.Output) outputObject {
	text := string(o.Tail)
	object := outputObject{Output: &text, Bytes: &o.Total}
	if !utf8.Valid(o.Tail) {
		text = string([]rune(text)) // each byte that is none becomes U+FFFD
		object.Base64 = base64.StdEncoding.EncodeToString(o.Tail)
	}
	return object
}

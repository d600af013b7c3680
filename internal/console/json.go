package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rs/zerolog"
)

// jsonOf formats a message as a line for programs.
func jsonOf(context []Field, m Message) []byte {
	var line bytes.Buffer
	log := zerolog.New(&line)
	event := log.WithLevel(m.Level.zerolog())
	addFields(event, context)
	event.Str("event", m.Event)
	if m.Err != nil {
		event.Err(m.Err)
	}
	addFields(event, m.Fields)
	if len(m.Hints) > 0 {
		event.Strs("hint", m.Hints)
	}
	event.Timestamp().Msg(m.Text)
	return escapeJSON(line.String())
}

func (l Level) zerolog() zerolog.Level {
	return [...]zerolog.Level{zerolog.DebugLevel, zerolog.InfoLevel, zerolog.WarnLevel, zerolog.ErrorLevel}[l]
}

func addFields(event *zerolog.Event, fields []Field) {
	for _, f := range fields {
		switch v := f.Value.(type) {
		case string:
			event.Str(f.Name, v)
		case int:
			event.Int(f.Name, v)
		case int64:
			event.Int64(f.Name, v)
		}
	}
}

// Object formats a result as a JSON object, without the end of the line. A result that JSON cannot
// hold is a bug.
func Object(result any) []byte {
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false)
	if err := out.Encode(result); err != nil {
		panic("marshal result: " + err.Error())
	}
	return bytes.TrimSuffix(escapeJSON(line.String()), []byte("\n"))
}

// escapeJSON escapes what a terminal would interpret, except the end of the line. zerolog has
// escaped control characters below space.
func escapeJSON(line string) []byte {
	body, _ := strings.CutSuffix(line, "\n")
	return []byte(escape(body, func(r rune) string {
		if r > 0xffff {
			return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		}
		return fmt.Sprintf(`\u%04x`, r)
	}) + "\n")
}

package lock

import (
	"encoding/json"
	"strings"
)

// ReadPause reads a text that anybody may have written; nil if it is no pause. It is the
// value of the key that says that a pause is wanted, and of a lock that a pause has:
//
//	{"pause":"<26 characters>","v":1,"by":"alice@desk","why":"deploy","since":<ms>,"until":<ms, or 0: for ever>}
func ReadPause(text string) *PauseMark {
	var p struct {
		Pause string
		By    string
		Why   string
		Since int64
		Until int64
	}
	if len(text) >= RecordMax || !strings.HasPrefix(text, `{"pause":"`) || json.Unmarshal([]byte(text), &p) != nil ||
		len(p.Pause) != RunIDLen {
		return nil
	}
	return &PauseMark{ID: p.Pause, By: p.By, Why: p.Why, Since: instantOf(p.Since), Until: instantOf(p.Until)}
}

package wire

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// ReadPause reads a text, which any client may have written; nil if it is no pause. It is the
// value of the key that asks for a pause, and of a lock that a pause holds:
//
//	{"pause":"<26 characters>","v":1,"by":"alice@desk","why":"deploy","since":<ms>,"until":<ms, or 0: for ever>}
func ReadPause(text string) *lock.PauseMark {
	var p struct {
		Pause string
		By    string
		Why   string
		Since int64
		Until int64
	}
	if len(text) >= RecordMax || !strings.HasPrefix(text, `{"pause":"`) || json.Unmarshal([]byte(text), &p) != nil ||
		len(p.Pause) != lock.RunIDLen {
		return nil
	}
	return &lock.PauseMark{ID: p.Pause, By: p.By, Reason: p.Why, Since: instantOf(p.Since), Until: instantOf(p.Until)}
}

// PauseText is the value of a pause, before the store adds when it began and ends: see ReadPause.
func PauseText(id string, by lock.Holder, why string) string {
	text, err := json.Marshal(struct {
		Pause    string `json:"pause"`
		Protocol int    `json:"v"`
		By       string `json:"by"`
		Why      string `json:"why"`
	}{id, Protocol, short(by.User, 32) + "@" + short(by.Host, 64), short(why, maxWhy)})
	if err != nil {
		panic("marshal pause: " + err.Error()) // there is none that it refuses
	}
	return string(text)
}

// maxWhy bounds what is kept of a reason.
const maxWhy = 200

// WhyText cuts a reason to the length that is kept.
func WhyText(why string) string { return short(why, maxWhy) }

// PauseLength is how long a pause is, in ms, as steps want it: 0 if it has no end.
func PauseLength(d time.Duration) int64 {
	if d == lock.Forever {
		return 0
	}
	return lock.Milliseconds(d)
}

// PauseEndsText is the value of the key that keeps them: "id@master " for each, where the master is a word, or "id ".
func PauseEndsText(ends []lock.PauseEnd) string {
	var b strings.Builder
	for _, e := range ends {
		if b.WriteString(e.ID); e.Master != "" {
			b.WriteString("@" + Word(e.Master))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// ReadPauseEnds reads a text, which any client may have written.
func ReadPauseEnds(text string) (ends []lock.PauseEnd) {
	for _, entry := range strings.Fields(text) {
		id, master, away := strings.Cut(entry, "@")
		if end := (lock.PauseEnd{ID: id}); len(id) == lock.RunIDLen && strings.Trim(id, idLetters) == "" {
			if away {
				end.Master = cmp.Or(unword(master), "?")
			}
			ends = append(ends, end)
		}
	}
	return ends
}

const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

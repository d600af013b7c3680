package wire

import (
	"strconv"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// entryWords is how many words an entry has, before those that are name=value. The order is
//
//	run host user pid command slot attempts fence asked at ended how status
//
// where at is in ms, 0 if unknown, and fence, asked and ended are counted from there, to be
// short: asked backwards. In the place of how stands the event of an act. A run that is open
// has the first ten, with nothing counted from elsewhere; 0 is unknown.
const (
	openWords  = 10
	entryWords = 13
)

// HolderText is the words of an entry that say who runs: host, user, pid, command and slot.
func HolderText(h lock.Holder, slot lock.Slot) string {
	r := RecordOf(h)
	return strings.Join([]string{Word(r.Host), Word(r.User), strconv.Itoa(r.PID), Word(r.Command), Word(slot.Name)},
		" ")
}

// EntryText is the entry as it is written, of a run that is open or of one that has ended.
func EntryText(e lock.Entry) string {
	words := []string{
		Word(e.Run), Word(e.Host), Word(e.User), strconv.Itoa(e.PID), Word(e.Command), Word(e.Slot),
		strconv.Itoa(e.Attempts),
	}
	decimal := func(n int64) { words = append(words, strconv.FormatInt(n, 10)) }
	asked, at, ended := milliseconds(e.Asked), milliseconds(e.At), milliseconds(e.Ended)
	if over := e.End != "" || e.Act != ""; !over {
		decimal(e.Fence)
		decimal(asked)
		decimal(at)
	} else {
		if asked == 0 { // unknown
			asked = at
		}
		decimal(e.Fence - at)
		decimal(at - asked)
		decimal(at)
		decimal(ended - at)
		words = append(words, Word(string(e.End)+string(e.Act)), statusWord(e.Status))
	}
	if e.Lost {
		words = append(words, "lost=1")
	}
	if e.Stood > 0 {
		words = append(words, "stood="+strconv.FormatInt(e.Stood.Milliseconds(), 10))
	}
	if e.Reason != "" {
		words = append(words, "why="+Word(e.Reason))
	}
	if !e.Until.IsZero() {
		words = append(words, "until="+strconv.FormatInt(milliseconds(e.Until), 10))
	}
	return strings.Join(words, " ")
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func statusWord(status int) string {
	if status < 0 {
		return "-"
	}
	return strconv.Itoa(status)
}

// ReadEntry reads an entry, which any client may have written; ok is false if it is none.
func ReadEntry(text string) (e lock.Entry, ok bool) {
	words := strings.Split(text, " ")
	if len(words) < openWords || len(text) > maxEntry {
		return lock.Entry{}, false
	}
	e = lock.Entry{
		Run: unword(words[0]), Host: unword(words[1]), User: unword(words[2]), PID: int(max(0, number(words[3]))),
		Command: unword(words[4]),
		Slot:    unword(words[5]), Attempts: int(max(0, number(words[6]))), Fence: max(0, number(words[7])),
		Asked: instant(words[8]), At: instant(words[9]), Status: -1,
	}
	if e.Run != "" && len(e.Run) != lock.RunIDLen {
		return lock.Entry{}, false
	}
	if len(words) >= entryWords {
		readEnd(&e, words[openWords-3:])
	}
	for _, w := range words[openWords:] {
		name, value, named := strings.Cut(w, "=")
		readNamed(&e, name, value, named)
	}
	return e, e.Run != "" || e.Act != ""
}

// maxEntry bounds what is read of an entry.
const maxEntry = 4096

// readEnd takes in the words from the fence on.
func readEnd(e *lock.Entry, words []string) {
	at := max(0, number(words[2]))
	if e.At.IsZero() { // it cannot be shown, nor what is counted from it
		at = 0
	}
	e.Fence, e.Asked, e.Ended = max(0, at+signed(words[0])), instantOf(at-signed(words[1])),
		instantOf(at+signed(words[3]))
	switch what := lock.Act(unword(words[4])); what {
	case lock.ActPause, lock.ActResume, lock.ActStop, lock.ActUnlock:
		e.Act = what
	default:
		e.End = lock.EndKind(what)
	}
	if n := number(words[5]); n <= 255 {
		e.Status = int(n)
	}
}

// signed is a word that is a whole number which Lua can count; else 0.
func signed(w string) int64 {
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil || n <= -1<<53 || n >= 1<<53 {
		return 0
	}
	return n
}

// readNamed takes in a word that is name=value; others are passed over.
func readNamed(e *lock.Entry, name, value string, named bool) {
	switch {
	case !named:
	case name == "lost":
		e.Lost = value == "1"
	case name == "stood":
		e.Stood = span(number(value))
	case name == "why":
		e.Reason = unword(value)
	case name == "until":
		e.Until = instant(value)
	}
}

// instant is zero where it is unknown, and where it could not be shown.
func instant(w string) time.Time { return instantOf(number(w)) }

func instantOf(n int64) time.Time {
	if n <= 0 || n > mostInstant {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// mostInstant is the end of the year 9999, after which RFC 3339 has no dates, in ms.
const mostInstant = 253402300799999

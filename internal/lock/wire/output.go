package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"redlockrun/internal/lock"
)

// What is kept of the output of a run is an entry of a list, newest first: a line of words, and behind it the bytes as
// they were printed.
//
//	run host ended how status attempt total\n<bytes>
//
// where ended is in ms of the store's clock. Further words are ignored.
const outputWords = 7

const (
	// MostOutputs is the number of a job's runs whose output is kept.
	MostOutputs = 10

	// MostOutputBytes is how many bytes are kept of a job, behind the lines of words. The newest entry is kept in any
	// case.
	MostOutputBytes = 128 << 10

	// MaxOutputEntry bounds what is read of an entry.
	MaxOutputEntry = lock.MaxOutput + 1<<10
)

// OutputText is an entry as it is written.
func OutputText(o lock.Output) string {
	return strings.Join([]string{
		Word(o.Run), Word(o.Host), strconv.FormatInt(milliseconds(o.Ended), 10), Word(string(o.End)),
		statusWord(o.Status),
		strconv.Itoa(o.Attempt), strconv.FormatInt(o.Total, 10),
	}, " ") + "\n" + string(o.Tail)
}

// ReadOutput reads an entry, which any client may have written; ok is false if it is none.
func ReadOutput(text string) (o lock.Output, ok bool) {
	head, tail, lined := strings.Cut(text, "\n")
	words := strings.Split(head, " ")
	if !lined || len(words) < outputWords || len(text) > MaxOutputEntry || len(tail) > lock.MaxOutput {
		return lock.Output{}, false
	}
	o = lock.Output{
		Run: unword(words[0]), Host: unword(words[1]), Ended: instant(words[2]), End: lock.EndKind(unword(words[3])),
		Status:  -1,
		Attempt: int(max(0, number(words[5]))), Total: number(words[6]), Tail: []byte(tail),
	}
	if n := number(words[4]); n <= 255 {
		o.Status = int(n)
	}
	if len(o.Run) != lock.RunIDLen || o.Ended.IsZero() || o.End == "" || o.Total < int64(len(tail)) {
		return lock.Output{}, false
	}
	return o, true
}

// ReadOutputs reads entries that come newest first, and returns one of each run, the latest. Any
// client may have written them. strange is the number of those that are not ours.
func ReadOutputs(texts []string) (outputs []lock.Output, strange int) {
	seen := make(map[string]bool, len(texts))
	for _, text := range texts {
		o, ok := ReadOutput(text)
		switch {
		case !ok:
			strange++
		case !seen[o.Run]:
			seen[o.Run] = true
			outputs = append(outputs, o)
		}
	}
	return outputs, strange
}

// TailText is the value of the job's field that has the last lines of an output: "<run> <text as a word>".
func TailText(t lock.Tail) string { return Word(t.Run) + " " + Word(t.Text) }

// readTail reads TailText.
func readTail(text string) (t lock.Tail, ok bool) {
	run, word, _ := strings.Cut(text, " ")
	word, _, _ = strings.Cut(word, " ")
	t = lock.Tail{Run: unword(run), Text: unword(word)}
	if len(t.Run) != lock.RunIDLen || word == "" || len(t.Text) > lock.MaxTail || !utf8.ValidString(t.Text) {
		return lock.Tail{}, false
	}
	return t, true
}

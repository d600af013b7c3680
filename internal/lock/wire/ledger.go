package wire

import (
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// Of the hash of a job in the ledger, these are the fields that are read, the kinds of ends
// aside: records of runs, and what has been reckoned of them.
const (
	openField        = "open"
	lastField        = "last"
	goodField        = "good"
	meanField        = "mean"
	stoppedField     = "stopped"
	unconfirmedField = "unconfirmed" // of a quorum's master: entries of runs that are open, a line each
	maxAgeField      = "max_age"
	sinceField       = "max_age_since"
	pausesField      = "pauses"
	tailField        = "tail"
	countField       = "count:" // before each kind of end
)

// LedgerFields are the names of all fields that are read.
func LedgerFields() []string {
	fields := []string{
		openField, lastField, goodField, meanField, stoppedField, unconfirmedField, maxAgeField, sinceField,
		pausesField, tailField,
	}
	for _, how := range lock.EndKinds() {
		fields = append(fields, countField+string(how))
	}
	return fields
}

// ReadLedger reads the values of LedgerFields, which any client may have written; "" is an absent one.
// strange are the fields with a value that is not ours.
func ReadLedger(j *lock.Job, values []string) (strange []string) {
	j.Counts = map[lock.EndKind]int64{}
	for i, field := range LedgerFields() {
		if i < len(values) && values[i] != "" && !readField(j, field, values[i]) {
			strange = append(strange, field)
		}
	}
	return strange
}

func readField(j *lock.Job, field, text string) (ok bool) {
	switch field {
	case openField:
		j.Open, ok = ReadEntry(text)
		if j.Open.Run == "" {
			j.Open, ok = lock.Entry{}, false
		}
	case lastField:
		j.LastEnd, ok = ReadEntry(text)
	case goodField:
		j.LastSuccess, ok = ReadEntry(text)
	case stoppedField:
		j.Stopped, ok = ReadEntry(text)
	case unconfirmedField:
		ok = true
		for line := range strings.Lines(text) {
			doubt, is := ReadEntry(strings.TrimSuffix(line, "\n"))
			if ok = ok && is && doubt.Run != ""; is && doubt.Run != "" {
				j.Unresolved = append(j.Unresolved, doubt)
			}
		}
	case meanField:
		j.Mean, ok = readMean(text)
	case maxAgeField:
		j.MaxAge, j.MaxAgeFence, ok = readMaxAge(text)
	case sinceField:
		j.MaxAgeSince = instant(text)
		ok = !j.MaxAgeSince.IsZero()
	case pausesField:
		j.Pauses, ok = readPauses(text)
	case tailField:
		j.Tail, ok = readTail(text)
	default:
		n := number(text)
		if ok = n >= 0; ok {
			j.Counts[lock.EndKind(strings.TrimPrefix(field, countField))] = n
		}
	}
	return ok
}

// readMean reads "<of how many runs> <ms>".
func readMean(text string) (time.Duration, bool) {
	_, ms, _ := strings.Cut(text, " ")
	n := number(ms)
	return span(n), n >= 0 && (n == 0 || span(n) > 0)
}

// readMaxAge reads "<ms> <fence of the run that said so>". 0 ms is no limit. A quorum's master does not know the fence
// before the run has ended: 0.
func readMaxAge(text string) (age time.Duration, fence int64, ok bool) {
	ms, after, _ := strings.Cut(text, " ")
	n, fence := number(ms), number(after)
	if n < 0 || n > lock.LongestMaxAge.Milliseconds() || fence < 0 {
		return 0, 0, false
	}
	return span(n), fence, true
}

// mostPauses is how many pauses are kept of a job since its last success.
const mostPauses = 64

// readPauses reads "<id>/<since>/<until> ..." in ms; 0: no end is known. ok is false if one of them is none of ours.
func readPauses(text string) (pauses []lock.PauseSpan, ok bool) {
	ok = true
	for entry := range strings.FieldsSeq(text) {
		part := strings.Split(entry, "/")
		if len(part) != 3 || len(part[0]) != lock.RunIDLen || instant(part[1]).IsZero() || number(part[2]) < 0 {
			ok = false
			continue
		}
		pauses = append(pauses, lock.PauseSpan{ID: part[0], Since: instant(part[1]), Until: instant(part[2])})
	}
	return pauses, ok
}

// LatestOfEach is one entry of each run, the latest, of entries that come newest first.
func LatestOfEach(entries []lock.Entry) (latest []lock.Entry) {
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if e.Act == "" && seen[e.Run] {
			continue
		}
		if e.Act == "" {
			seen[e.Run] = true
		}
		latest = append(latest, e)
	}
	return latest
}

// ReadEntries reads entries that come newest first, and returns one of each run, the latest. Any
// client may have written them. strange is the number of those that are not ours.
func ReadEntries(texts []string) (entries []lock.Entry, strange int) {
	for _, text := range texts {
		if e, ok := ReadEntry(text); ok && (e.End != "" || e.Act != "") {
			entries = append(entries, e)
		} else {
			strange++
		}
	}
	return LatestOfEach(entries), strange
}

package inspect

import (
	"math"

	"redlockrun/internal/lock/link"
)

// The answers of the steps. This file describes the format of their replies; a reply in any
// other is an error. The texts in it can be anything.

// A jobsReply is the answer of the step about jobs:
//
//	{1, now, {job...}}       the server's clock in ms, 0 if it may not be asked; each job is a list of parts
//	{-1, command, error}     the server refused a command
type jobsReply struct {
	now          int64
	jobs         []reading
	command, why string // of a refusal; else ""
}

// A reading is the readable part of a job, key by key.
type reading struct{ lock, fence, pause, line, who, slots, ledger, runs, resumed part }

// A part is the readable part of a key:
//
//	{1, n, text...}    its texts; n is the lock's PTTL, the number of waiters, or the number of slots
//	{0, 0, command}    nothing, without this command
//	{-1, 0}            nothing: the key is of another type
type part struct {
	code, number int64
	texts        []string
}

func readJobs(r *link.Reply) (j jobsReply) {
	switch r.Code() {
	case 1:
		j.now = r.Whole(0)
		r.List(func(jobs *link.Reply) {
			for jobs.Len() > 0 {
				jobs.List(func(job *link.Reply) { j.jobs = append(j.jobs, readReading(job)) })
			}
		})
	case -1:
		j.command, j.why = r.Text(), r.Text()
		if j.command == "" {
			r.Strange()
		}
	default:
		r.Strange()
	}
	return j
}

func readReading(r *link.Reply) (j reading) {
	for _, p := range []*part{&j.lock, &j.fence, &j.pause, &j.line, &j.who, &j.slots, &j.ledger, &j.runs, &j.resumed} {
		r.List(func(r *link.Reply) {
			p.code, p.number, p.texts = r.Number(-1, 1), r.Number(-2, math.MaxInt64), r.Texts()
			if p.code == 0 && len(p.texts) != 1 {
				r.Strange()
			}
		})
	}
	return j
}

// text is the i-th text of a part; "" if there is none.
func (p part) text(i int) string {
	if i < len(p.texts) {
		return p.texts[i]
	}
	return ""
}

// A namesReply is the answer of the steps about names:
//
//	{1, cursor, text...}   some members of the set, or keys; the cursor is "0" if these are the last
//	{-1}                   the key is no sorted set
type namesReply struct {
	wrong  bool
	cursor string
	texts  []string
}

func readNames(r *link.Reply) (n namesReply) {
	switch r.Code() {
	case 1:
		n.cursor, n.texts = r.Text(), r.Texts()
	case -1:
		n.wrong = true
	default:
		r.Strange()
	}
	return n
}

// A runsReply is the answer of the step about runs:
//
//	{1, entry...}   some entries
//	{-1}            the key is no list
type runsReply struct {
	wrong   bool
	entries []string
}

func readRuns(r *link.Reply) (n runsReply) {
	switch r.Code() {
	case 1:
		n.entries = r.Texts()
	case -1:
		n.wrong = true
	default:
		r.Strange()
	}
	return n
}

// An outputsReply is the answer of the step about outputs:
//
//	{1, {1, entry...}...}    the entries of each job, shortened
//	      {0}                the key is no list
//	      {-1, error}        the server refused the command that reads it
type outputsReply struct{ jobs []outputsOfJob }

type outputsOfJob struct {
	code  int64
	texts []string
}

func readOutputs(r *link.Reply) (o outputsReply) {
	if r.Code() != 1 {
		r.Strange()
	}
	for r.Len() > 0 {
		r.List(func(job *link.Reply) {
			one := outputsOfJob{job.Number(-1, 1), job.Texts()}
			if one.code == -1 && len(one.texts) != 1 || one.code == 0 && len(one.texts) > 0 {
				job.Strange()
			}
			o.jobs = append(o.jobs, one)
		})
	}
	return o
}

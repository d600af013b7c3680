package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlockrun/internal/lock"
)

// Rules are the limits that a job must keep. The zero value checks only the last end and the
// state.
type Rules struct {
	MaxAge, WarnAge time.Duration // since the end of the last success; 0: what the job expects of itself, and no limit
	MaxRuntime      time.Duration // of what runs; 0: no limit
	// MaxFailures bad ends in a row are critical, instead of the last end. It needs the job's Runs.
	MaxFailures int
}

// A Grade is monitoring's judgement of a job. As a number it is the exit status of a plugin.
type Grade int

// The grades.
const (
	OK Grade = iota
	Warning
	Critical
	Unknown
)

func (g Grade) String() string { return [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}[g] }

// gravity orders grades: CRITICAL is worse than UNKNOWN.
func (g Grade) gravity() int { return [...]int{OK: 0, Warning: 1, Unknown: 2, Critical: 3}[g] }

// or is the worse of two grades.
func (g Grade) or(other Grade) Grade {
	if other.gravity() > g.gravity() {
		return other
	}
	return g
}

// A Verdict is the judgement of one job by the rules.
type Verdict struct {
	Key      string
	Grade    Grade
	Message  string // of one line
	age      *seconds
	measured []measure
}

// A finding is the judgement of a job by one rule.
type finding struct {
	grade Grade
	text  string
}

// Judge holds a job to the rules. Times of day are those of a zone.
func (r Rules) Judge(j lock.Job, zone *time.Location) Verdict {
	found := slices.Concat(unfit(j), r.ages(j, zone), r.ends(j), r.runtime(j), states(j))
	slices.SortStableFunc(found, func(a, b finding) int { return b.grade.gravity() - a.grade.gravity() })
	v := Verdict{Key: j.Name}
	var texts []string
	for _, f := range found {
		v.Grade = v.Grade.or(f.grade)
		texts = append(texts, f.text)
	}
	if len(found) == 0 {
		texts = append(texts, fine(j))
	}
	if line := lastLine(j); line != "" {
		texts = append(texts, "it printed: "+line)
	}
	if m := j.Pause; m != nil {
		texts = append(texts, "paused "+pausedBy(m, zone))
	}
	v.Message = strings.Join(texts, ", ")
	if age, known := sinceSuccess(j); known {
		v.age = secondsOf(age, true)
	}
	v.measured = r.measure(j)
	return v
}

// JudgeAll holds each job to the rules.
func (r Rules) JudgeAll(jobs []lock.Job, zone *time.Location) (verdicts []Verdict) {
	for _, j := range jobs {
		verdicts = append(verdicts, r.Judge(j, zone))
	}
	return verdicts
}

// unfit reports a lock that no run can take.
func unfit(j lock.Job) []finding {
	if len(j.Unfit) == 0 {
		return nil
	}
	return []finding{{Critical, "no run can start, each ends with 65 (" + strings.Join(j.Unfit, ", ") + ")"}}
}

// sinceSuccess is how long ago the last success ended.
func sinceSuccess(j lock.Job) (age time.Duration, known bool) {
	good := j.Success()
	return max(0, j.Now.Sub(good.Ended)), good.Run != "" && !good.Ended.IsZero() && !j.Now.IsZero()
}

// ages are the rules of the last success. Without a MaxAge that of the job counts, if it has one.
func (r Rules) ages(j lock.Job, zone *time.Location) []finding {
	if r.MaxAge == 0 && j.Overdue() {
		return []finding{{Critical, overdueBy(j, zone)}}
	}
	grade, limit := Critical, r.MaxAge
	age, known := sinceSuccess(j)
	if limit == 0 || known && age <= limit {
		grade, limit = Warning, r.WarnAge
	}
	switch {
	case limit == 0, known && age <= limit:
		return nil
	case !known && len(j.Unread) > 0:
		return []finding{{Unknown, "the last success is unknown (" + j.Unread[0] + ")"}}
	case !known:
		return []finding{{grade, "no success is recorded, limit " + Took(limit)}}
	}
	return []finding{{grade, fmt.Sprintf("%s, limit %s", noSuccess(j, zone), Took(limit))}}
}

// noSuccess says for how long there has been no success.
func noSuccess(j lock.Job, zone *time.Location) string {
	age, known := sinceSuccess(j)
	if !known {
		return "no success is recorded"
	}
	good := j.Success()
	last := good.Ended.In(zone).Format("2006-01-02 15:04 ") + lock.ZoneName(good.Ended.In(zone)) + on(good)
	return fmt.Sprintf("no success for %s (last %s)", Elapsed(age), last)
}

// overdueBy says for how long a job has been overdue, by its own limit.
func overdueBy(j lock.Job, zone *time.Location) string {
	due, _ := j.Due()
	text := fmt.Sprintf("overdue by %s: %s, limit %s", Elapsed(j.Now.Sub(due)), noSuccess(j, zone), Took(j.MaxAge))
	if paused := due.Sub(j.ExpectedSince()) - j.MaxAge; paused > 0 {
		text += " and " + Elapsed(paused) + " of pauses"
	}
	return text
}

// on is where a run ran, if that is known.
func on(e lock.Entry) string {
	if e.Host == "" {
		return ""
	}
	return " on " + lock.Escaped(e.Host)
}

// ends are the rules of how runs have ended.
func (r Rules) ends(j lock.Job) []finding {
	if r.MaxFailures == 0 {
		return lastEnd(j)
	}
	row, cut := inARow(j)
	switch {
	case row >= r.MaxFailures:
		return []finding{{Critical, fmt.Sprintf("%d failures in a row, limit %d", row, r.MaxFailures)}}
	case row > 0 && cut:
		text := fmt.Sprintf("%d failures in a row, as far as the history goes, limit %d", row, r.MaxFailures)
		return []finding{{Unknown, text}}
	}
	return nil
}

func lastEnd(j lock.Job) []finding {
	switch last := j.LastEnd; {
	case j.Vanished():
		text := "the run" + on(j.Open) + " has vanished"
		if d, ok := Since(j.Open.At, j.Now); ok {
			text += ", begun " + Ago(d)
		}
		return []finding{{Critical, text}}
	case last.Run != "" && last.End != lock.EndOk:
		return []finding{{Critical, "the last run " + ending(last, j.Now)}}
	}
	return nil
}

// ending says how, where and when a run has ended.
func ending(e lock.Entry, now time.Time) string {
	how := "ended in an unknown way"
	if e.End != "" {
		how = "ended: " + EndOf(e).Text
	}
	how += on(e)
	if d, ok := Since(e.Ended, now); ok && !now.IsZero() {
		how += ", " + Ago(d)
	}
	return how
}

// inARow is how many of the last ends were bad, back to the last success. cut reports whether
// what is remembered ends before that.
func inARow(j lock.Job) (row int, cut bool) {
	seen := map[string]bool{}
	bad := func(e lock.Entry) bool {
		if e.Act != "" || e.Run == "" || seen[e.Run] {
			return true
		}
		seen[e.Run] = true
		if e.End != lock.EndOk {
			row++
		}
		return e.End != lock.EndOk
	}
	if j.Vanished() {
		gone := j.Open
		gone.End = lock.EndVanished
		bad(gone)
	}
	for _, e := range slices.Concat([]lock.Entry{j.LastEnd}, j.Runs) {
		if !bad(e) {
			return row, false
		}
	}
	var ended int64
	for _, n := range j.Counts {
		ended += n
	}
	return row, j.LastSuccess.Run != "" || ended > int64(len(seen))
}

// runtime is the rule of how long a run may take.
func (r Rules) runtime(j lock.Job) []finding {
	if r.MaxRuntime == 0 || !Running(j) {
		return nil
	}
	d, known := forHowLong(j)
	switch {
	case !known:
		return []finding{{Unknown, "running" + on(Subject(j)) + ", since an unknown time"}}
	case d > r.MaxRuntime:
		text := fmt.Sprintf("running for %s%s, limit %s", Elapsed(d), on(Subject(j)), Took(r.MaxRuntime))
		return []finding{{Critical, text}}
	}
	return nil
}

// forHowLong is how long what runs has been running.
func forHowLong(j lock.Job) (d time.Duration, known bool) {
	at := j.At
	if at.IsZero() && j.Open.Run == j.Holder.Run {
		at = j.Open.At
	}
	return max(0, j.Now.Sub(at)), Running(j) && !at.IsZero() && !j.Now.IsZero()
}

// states are the rules of what the job is doing.
func states(j lock.Job) []finding {
	switch host := on(Subject(j)); j.State {
	case "":
		return []finding{{Unknown, "the holder of the lock is unknown (" + strings.Join(j.Unread, ", ") + ")"}}
	case lock.StateSilent:
		return []finding{{Warning, "silent: the run" + host + " does not renew its lease, of which " +
			Elapsed(j.Left) + " are left"}}
	case lock.StateStuck:
		return []finding{{Warning, "stuck: the lock" + host + " never expires by itself"}}
	case lock.StateForeign:
		return []finding{{Warning, "foreign: redlockrun did not create the key"}}
	}
	if len(j.Unfit) > 0 || Busy(j) || j.Vanished() || cmp.Or(j.LastEnd.Run, j.LastSuccess.Run) != "" {
		return nil
	}
	if len(j.Unread) > 0 {
		return []finding{{Unknown, "it is unknown whether the job has ever run (" + j.Unread[0] + ")"}}
	}
	return []finding{{Unknown, neverSeen}}
}

// fine describes a job with which all is well.
func fine(j lock.Job) string {
	var texts []string
	if d, known := forHowLong(j); known {
		texts = append(texts, "running for "+Elapsed(d)+on(Subject(j)))
	} else if Busy(j) {
		texts = append(texts, string(j.State)+on(Subject(j)))
	}
	if j.LastEnd.Run != "" {
		texts = append(texts, "the last run "+ending(j.LastEnd, j.Now))
	}
	return cmp.Or(strings.Join(texts, ", "), "nothing is wrong")
}

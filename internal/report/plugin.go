package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"redlockrun/internal/lock"
)

// A measure is one of a plugin's performance data, with the limits above which it is wrong.
type measure struct {
	name       string
	value      seconds // or a count
	unit       string
	warn, crit *seconds
}

// measure are the performance data of a job: what is known of age and runtime, and, if they
// are counted, the bad ends in a row.
func (r Rules) measure(j lock.Job) (all []measure) {
	if age, known := sinceSuccess(j); known {
		all = append(all, measure{"age", *secondsOf(age, true), "s", secondsOf(r.WarnAge, r.WarnAge > 0),
			secondsOf(r.oldest(j))})
	}
	if d, known := forHowLong(j); known {
		all = append(all, measure{"runtime", *secondsOf(d, true), "s", nil, secondsOf(r.MaxRuntime, r.MaxRuntime > 0)})
	}
	if r.MaxFailures > 0 {
		row, _ := inARow(j)
		limit := seconds(r.MaxFailures - 1)
		all = append(all, measure{"failures", seconds(row), "", nil, &limit})
	}
	return all
}

// oldest returns the age that the last success may have: by the rules, or by the job's own
// --max-age.
func (r Rules) oldest(j lock.Job) (age time.Duration, limited bool) {
	if due, known := j.Due(); r.MaxAge == 0 && known {
		return due.Sub(j.Success().Ended), true
	}
	return r.MaxAge, r.MaxAge > 0
}

// String is the measure without its label: 97200s;90000;93600;0.
func (m measure) String() string {
	return fmt.Sprintf("%s%s;%s;%s;0", m.value, m.unit, m.warn.orNothing(), m.crit.orNothing())
}

func (s seconds) String() string { return strconv.FormatFloat(float64(s), 'f', -1, 64) }

func (s *seconds) orNothing() string {
	if s == nil {
		return ""
	}
	return s.String()
}

// Plugin returns the one line of a monitoring plugin about named jobs: the worst grade, the jobs, further remarks, and
// after a bar the performance data.
func Plugin(verdicts []Verdict, remarks []string) string {
	var data []string
	for _, v := range WorstFirst(verdicts) {
		for _, m := range v.measured {
			data = append(data, "'"+label(v.Key)+" "+m.name+"'="+m.String())
		}
	}
	line := plugin(Worst(verdicts), strings.Join(append(messages(verdicts), remarks...), "; "))
	if len(data) > 0 {
		line += " | " + strings.Join(data, " ")
	}
	return line
}

// messages returns the messages of jobs, the worst first. Those that are OK are only counted, unless it is one job.
func messages(verdicts []Verdict) (texts []string) {
	fine := 0
	for _, v := range WorstFirst(verdicts) {
		if v.Grade == OK && len(verdicts) > 1 {
			fine++
		} else {
			texts = append(texts, lock.Escaped(v.Key)+": "+v.Message)
		}
	}
	return append(texts, countOK(fine)...)
}

// countOK says how many jobs are OK, if any is.
func countOK(n int) []string {
	switch n {
	case 0:
		return nil
	case 1:
		return []string{"1 job is OK"}
	}
	return []string{fmt.Sprintf("%d jobs are OK", n)}
}

// PluginOfAll returns the line about all jobs of a list. No job at all is UNKNOWN; remarks say why.
func PluginOfAll(verdicts []Verdict, remarks []string) string {
	grade, texts := Worst(verdicts), messages(verdicts)
	if len(verdicts) == 0 {
		grade = Unknown
	}
	if len(verdicts) == 1 && grade == OK {
		texts = countOK(1)
	}
	return plugin(grade, strings.Join(append(texts, remarks...), "; ")) + fmt.Sprintf(" | jobs=%d", len(verdicts))
}

// WorstFirst are verdicts by their grades.
func WorstFirst(verdicts []Verdict) []Verdict {
	return slices.SortedStableFunc(slices.Values(verdicts),
		func(a, b Verdict) int { return b.Grade.gravity() - a.Grade.gravity() })
}

// PluginUnknown is the line of a check that could not be made.
func PluginUnknown(why string) string { return plugin(Unknown, why) }

// plugin is the line without performance data: a bar in it would begin them.
func plugin(g Grade, text string) string {
	return "REDLOCKRUN " + g.String() + " - " + strings.Map(oneLine, text)
}

func oneLine(r rune) rune {
	switch {
	case r == '|':
		return '¦'
	case unicode.IsControl(r):
		return ' '
	}
	return r
}

// label is a job's name as performance data can have it: what would end it there, or could not be
// read, is written as in a URL.
func label(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsControl(r) || strings.ContainsRune("%='|", r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Worst is the worst grade of verdicts, OK of none.
func Worst(verdicts []Verdict) (worst Grade) {
	for _, v := range verdicts {
		worst = worst.or(v.Grade)
	}
	return worst
}

type verdictObject struct {
	Key     string   `json:"key"`
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Age     *seconds `json:"age_seconds,omitempty"`
}

// VerdictObject is a verdict for programs, to be written as JSON.
func VerdictObject(v Verdict) any { return verdictObject{v.Key, v.Grade.String(), v.Message, v.age} }

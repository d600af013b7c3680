package report

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"redlockrun/internal/lock"
)

// metricPrefix stands before the name of each metric.
const metricPrefix = "redlockrun_"

// MetricsDown are the metrics of a store that could not be asked.
func MetricsDown() string {
	var m metrics
	m.up(0)
	return m.text.String()
}

// Metrics returns all that is known of jobs in Prometheus' text format. A value that is unknown,
// or an event that has never happened, is absent.
func Metrics(jobs []lock.Job) string {
	var m metrics
	m.up(1)
	m.head("jobs", gauge, "How many jobs are listed.")
	m.sample("jobs", "", float64(len(jobs)))
	keys := keysOf(jobs)
	for _, f := range families() {
		m.family(f, jobs, keys)
	}
	return m.text.String()
}

// A family is a metric with a value for each job, or one for each kind of end.
type family struct {
	name, kind, help string
	value            func(lock.Job) (v float64, known bool)
	counts           bool // runs, by how they ended
}

// families are all metrics of jobs, in their order.
func families() []family {
	return []family{
		{name: "running", kind: gauge, help: "Whether a run works under the lock.", value: told(Running)},
		{name: "run_started_timestamp_seconds", kind: gauge, help: "When the run that works under the lock began.",
			value: startedAt},
		{name: "lease_seconds", kind: gauge, help: "How long the lock lasts if it is not renewed.", value: leaseLeft},
		{name: "permits", kind: gauge, help: "How many permits there are, as the runs say that hold some.",
			value: permits},
		{name: "permits_held", kind: gauge, help: "How many permits are held.", value: permitsHeld},
		{name: "waiting", kind: gauge, help: "How many runs wait for the lock.", value: waiting},
		{name: "paused", kind: gauge, help: "Whether an operator keeps the job from starting.", value: told(Paused)},
		{name: "vanished", kind: gauge, help: "Whether a run has no lock any more and has not said how it ended.",
			value: told(vanished)},
		{name: "silent", kind: gauge, help: "Whether a run has not renewed its lock when it should have.",
			value: told(is(lock.StateSilent))},
		{name: "stuck", kind: gauge, help: "Whether the lock never expires by itself.",
			value: told(is(lock.StateStuck))},
		{name: "foreign", kind: gauge, help: "Whether no run can start because a key of the lock holds something else.",
			value: told(noLock)},
		{name: "overdue", kind: gauge, help: "Whether the last success is older than --max-age allows.",
			value: overdueNow},
		{name: "due_timestamp_seconds", kind: gauge, help: "When the job is overdue; absent while it is paused.",
			value: dueAt},
		{name: "last_end_timestamp_seconds", kind: gauge, help: "When the last run ended.", value: lastEndAt},
		{name: "last_success_timestamp_seconds", kind: gauge, help: "When the last run that succeeded ended.",
			value: lastSuccessAt},
		{name: "last_duration_seconds", kind: gauge, help: "How long the last run took.", value: lastDuration},
		{name: "mean_duration_seconds", kind: gauge,
			help: "How long about the last twenty successful runs took on average.", value: meanDuration},
		{name: "last_exit_status", kind: gauge, help: "The exit status of the last run.", value: lastStatus},
		{name: "runs_total", kind: counter, help: "Runs that have ended, by how.", counts: true},
	}
}

const (
	gauge   = "gauge"
	counter = "counter"
)

// told is 1 or 0, if the job's state is known.
func told(is func(lock.Job) bool) func(lock.Job) (float64, bool) {
	return func(j lock.Job) (float64, bool) {
		if is(j) {
			return 1, j.State != ""
		}
		return 0, j.State != ""
	}
}

func is(state lock.State) func(lock.Job) bool {
	return func(j lock.Job) bool { return j.State == state }
}

func vanished(j lock.Job) bool { return j.Vanished() }

// timestamp is an instant as Prometheus counts them.
func timestamp(t time.Time) (v float64, known bool) {
	return float64(t.UnixMilli()) / 1000, !t.IsZero()
}

func startedAt(j lock.Job) (float64, bool) {
	v, known := timestamp(j.At)
	return v, known && Running(j)
}

func leaseLeft(j lock.Job) (float64, bool) { return j.Left.Seconds(), Busy(j) && j.Left > 0 }

func waiting(j lock.Job) (float64, bool) { return float64(j.Waiting), j.State != "" }

func permits(j lock.Job) (float64, bool) {
	_, of := j.Taken()
	return float64(of), of > 0
}

func permitsHeld(j lock.Job) (float64, bool) {
	held, of := j.Taken()
	return float64(held), of > 0
}

func lastEndAt(j lock.Job) (float64, bool) { return timestamp(j.LastEnd.Ended) }

func lastSuccessAt(j lock.Job) (float64, bool) { return timestamp(j.Success().Ended) }

func overdueNow(j lock.Job) (float64, bool) {
	if j.Overdue() {
		return 1, true
	}
	return 0, j.MaxAge > 0
}

func dueAt(j lock.Job) (float64, bool) {
	due, known := j.Due()
	v, _ := timestamp(due)
	return v, known
}

func lastDuration(j lock.Job) (float64, bool) {
	d, known := RunTime(j.LastEnd)
	return d.Seconds(), known
}

func meanDuration(j lock.Job) (float64, bool) { return j.Mean.Seconds(), j.Mean > 0 }

func lastStatus(j lock.Job) (float64, bool) {
	return float64(j.LastEnd.Status), j.LastEnd.Run != "" && j.LastEnd.End != "" && j.LastEnd.Status >= 0
}

// metrics are being written.
type metrics struct{ text strings.Builder }

func (m *metrics) up(v float64) {
	m.head("up", gauge, "Whether the store of the locks could be asked.")
	m.sample("up", "", v)
}

func (m *metrics) head(name, kind, help string) {
	m.text.WriteString("# HELP " + metricPrefix + name + " " + help + "\n# TYPE " + metricPrefix + name + " " +
		kind + "\n")
}

func (m *metrics) sample(name, labels string, v float64) {
	m.text.WriteString(metricPrefix + name + labels + " " + strconv.FormatFloat(v, 'f', -1, 64) + "\n")
}

// family writes a metric, if any job has it.
func (m *metrics) family(f family, jobs []lock.Job, keys []string) {
	begun := false
	write := func(labels string, v float64) {
		if !begun {
			m.head(f.name, f.kind, f.help)
			begun = true
		}
		m.sample(f.name, "{"+labels+"}", v)
	}
	for i, j := range jobs {
		switch {
		case keys[i] == "":
		case !f.counts:
			if v, known := f.value(j); known {
				write(keys[i], v)
			}
		case j.Counts != nil:
			for _, how := range lock.EndKinds() {
				write(keys[i]+`,how="`+string(how)+`"`, float64(j.Counts[how]))
			}
		}
	}
}

// keysOf are the labels of jobs; "" for one whose label another has, which would make the whole
// text void.
func keysOf(jobs []lock.Job) (keys []string) {
	known := make(map[string]bool, len(jobs))
	for _, j := range jobs {
		key := `key="` + labelValue(j.Name) + `"`
		if known[key] {
			key = ""
		}
		known[key] = true
		keys = append(keys, key)
	}
	return keys
}

// labelValue escapes a name for the quotes of a label. A name that no job can have is made
// printable first.
func labelValue(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		name = lock.Escaped(name)
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(name)
}

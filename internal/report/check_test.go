package report

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/console"
	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ledgers"
)

// gradeOf is a model of the rules, written as a table of what is true when; the first line
// whose grade is the worst counts.
func gradeOf(r Rules, j lock.Job) Grade {
	never := j.LastEnd.Run == "" && j.LastSuccess.Run == ""
	timeless := j.Now.IsZero()
	held := j.Holder.Run != "" || slices.Contains([]lock.State{lock.StateForeign, lock.StateStuck}, j.State)
	works := j.Holder.Run != "" && slices.Contains(
		[]lock.State{lock.StateRunning, lock.StateStarting, lock.StateSilent, lock.StateStuck},
		j.State)
	gone := j.Open.Run != "" && j.State != "" && j.Open.Run != j.Holder.Run
	good := j.LastSuccess
	if j.LastEnd.End == lock.EndOk && j.LastEnd.Run != "" && good.Ended.Before(j.LastEnd.Ended) {
		good = j.LastEnd
	}
	ageless := good.Run == "" || good.Ended.IsZero() || timeless
	older := func(limit time.Duration) bool {
		return limit > 0 && !ageless && good.Ended.Add(limit).Before(j.Now)
	}
	began := j.At
	if began.IsZero() && j.Open.Run == j.Holder.Run {
		began = j.Open.At
	}
	row, whole := modelRow(j, gone)
	limited := r.MaxFailures > 0
	readable := len(j.Unread) == 0

	for _, line := range []struct {
		grade Grade
		is    bool
	}{
		{Critical, older(r.MaxAge)},
		{Critical, r.MaxAge > 0 && ageless && readable},
		{Critical, r.MaxAge == 0 && unpausedFor(j, good) > j.MaxAge},
		{Critical, !limited && gone},
		{Critical, !limited && j.LastEnd.Run != "" && j.LastEnd.End != lock.EndOk},
		{Critical, limited && row >= r.MaxFailures},
		{Critical, r.MaxRuntime > 0 && works && !timeless && !began.IsZero() && began.Add(r.MaxRuntime).Before(j.Now)},
		{Unknown, (r.MaxAge > 0 || r.WarnAge > 0) && ageless && !readable},
		{Unknown, limited && row > 0 && !whole},
		{Unknown, r.MaxRuntime > 0 && works && (timeless || began.IsZero())},
		{Unknown, j.State == ""},
		{Unknown, never && !gone && !held},
		{Warning, older(r.WarnAge)},
		{Warning, r.WarnAge > 0 && ageless},
		{Warning, j.State == lock.StateSilent},
		{Warning, j.State == lock.StateStuck},
		{Warning, j.State == lock.StateForeign},
	} {
		if line.is {
			return line.grade
		}
	}
	return OK
}

// unpausedFor is how much time has passed since the last success in which the job was not paused; 0 if nothing is
// expected of it now, or that is unknown.
func unpausedFor(j lock.Job, good lock.Entry) time.Duration {
	since := good.Ended
	if since.Before(j.MaxAgeSince) {
		since = j.MaxAgeSince
	}
	if j.MaxAge == 0 || since.IsZero() || j.Now.IsZero() || j.Pause != nil || j.State == lock.StatePaused {
		return 0
	}
	instants := []time.Time{since, j.Now}
	for _, p := range j.Pauses {
		instants = append(instants, p.Since, p.Until)
	}
	slices.SortFunc(instants, time.Time.Compare)
	var unpaused time.Duration
	for i, from := range instants[:len(instants)-1] {
		paused := slices.ContainsFunc(j.Pauses, func(p lock.PauseSpan) bool {
			return !from.Before(p.Since) && from.Before(p.Until)
		})
		if !from.Before(since) && from.Before(j.Now) && !paused {
			unpaused += instants[i+1].Sub(from)
		}
	}
	return unpaused
}

// modelRow counts bad ends in a word of one letter for each run, newest first; whole: nothing
// before the first success is missing.
func modelRow(j lock.Job, gone bool) (row int, whole bool) {
	var word, known []string
	add := func(run, letter string) {
		if run != "" && !slices.Contains(known, run) {
			word, known = append(word, letter), append(known, run)
		}
	}
	if gone {
		add(j.Open.Run, "x")
	}
	for _, e := range append([]lock.Entry{j.LastEnd}, j.Runs...) {
		if e.Act == "" {
			add(e.Run, map[bool]string{true: "o", false: "x"}[e.End == lock.EndOk])
		}
	}
	all := strings.Join(word, "")
	bad, _, success := strings.Cut(all, "o")
	total := int64(0)
	for _, n := range j.Counts {
		total += n
	}
	return len(bad), success || j.LastSuccess.Run == "" && total <= int64(len(all))
}

func TestCheckAgreesWithAModelOfItsRules(t *testing.T) {
	t.Parallel()
	seen := map[Grade]int{}
	for seed := range uint64(10_000) {
		l := ledgers.New(seed)
		j, r := l.Job(), rulesOf(l)
		v := r.Judge(j, time.UTC)
		if want := gradeOf(r, j); v.Grade != want {
			t.Fatalf("seed %d: %v, the model says %v\n%+v\n%+v\n%s", seed, v.Grade, want, r, j, v.Message)
		}
		seen[v.Grade]++
	}
	for g := OK; g <= Unknown; g++ {
		if seen[g] < 300 {
			t.Errorf("%v only %d times in 10,000: %v", g, seen[g], seen)
		}
	}
}

// pluginLine is grade, text and performance data, aMeasure label, value, unit, warning and critical.
var (
	pluginLine = regexp.MustCompile(`^REDLOCKRUN (OK|WARNING|CRITICAL|UNKNOWN) - ([^|]+?)(?: \| ([^|]+))?$`)
	aMeasure   = regexp.MustCompile(`^'([^'=|]+)'=([0-9.]+)(s?);([0-9.]*);([0-9.]*);0(?: |$)`)
)

// readPlugin reads a line as monitoring does, strictly.
func readPlugin(t *testing.T, line string) (status string, measures map[string][]string) {
	t.Helper()
	m := pluginLine.FindStringSubmatch(line)
	if m == nil || !plainText(line) {
		t.Fatalf("%q is no plugin's line", line)
	}
	measures = map[string][]string{}
	for data := m[3]; data != ""; {
		one := aMeasure.FindStringSubmatch(data)
		if one == nil {
			t.Fatalf("%q has the performance data %q", line, data)
		}
		for _, number := range []string{one[2], one[4], one[5]} {
			if n, err := strconv.ParseFloat(number, 64); number != "" && (err != nil || n < 0) {
				t.Fatalf("%q has the number %q", line, number)
			}
		}
		measures[one[1]] = one[2:]
		data = data[len(one[0]):]
	}
	return m[1], measures
}

func checkLines(t *testing.T, l *ledgers.Generator) {
	t.Helper()
	jobs, r := append(l.Jobs(3), l.Job()), rulesOf(l)
	verdicts := r.JudgeAll(jobs, ledgers.Zone)
	status, _ := readPlugin(t, Plugin(verdicts, []string{"no answer from " + l.Text()}))
	if status != Worst(verdicts).String() {
		t.Errorf("%s, but the worst is %v", status, Worst(verdicts))
	}
	for _, v := range verdicts {
		var o struct {
			Key, Status, Message string
			Age                  float64 `json:"age_seconds"`
		}
		line := console.Object(VerdictObject(v))
		err := json.Unmarshal(line, &o)
		if err != nil || o.Age < 0 || o.Message == "" || o.Status != v.Grade.String() || !plainText(string(line)) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestCheckPrintsALineOfAnyLedger(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		checkLines(t, ledgers.New(seed))
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(uint64(1), "orders", "it's | x")
	f.Fuzz(func(t *testing.T, seed uint64, name, host string) {
		l := ledgers.New(seed)
		checkLines(t, l)
		j, r := l.Job(), rulesOf(l)
		j.Name, j.LastEnd.Host, j.Open.Host = "x"+name, host, host
		if got, want := r.Judge(j, ledgers.Zone).Grade, gradeOf(r, j); got != want {
			t.Errorf("%v, the model says %v", got, want)
		}
		readPlugin(t, Plugin(r.JudgeAll([]lock.Job{j}, ledgers.Zone), nil))
	})
}

func TestTheLineOfCheck(t *testing.T) {
	orders := lock.Job{Name: "orders", Now: ledgers.Now, State: lock.StateIdle,
		LastSuccess: ledgers.Over('A', lock.EndOk, 0, time.Minute, 27*time.Hour)}
	orders.LastEnd = orders.LastSuccess
	broken := lock.Job{Name: "a|b='c", Now: ledgers.Now, State: lock.StateIdle,
		LastEnd: ledgers.Over('B', lock.EndFailed, 3, time.Minute, time.Hour)}
	expected := lock.Job{
		Name: "backup", State: lock.StateIdle, LastEnd: orders.LastSuccess, LastSuccess: orders.LastSuccess,
		MaxAge: 24 * time.Hour,
		Pauses: []lock.PauseSpan{{Since: ledgers.Before(3 * time.Hour), Until: ledgers.Before(2 * time.Hour)}},
	}
	paused := expected
	paused.State, paused.Pause = lock.StatePaused, &lock.PauseMark{By: "alice@desk"}
	never := lock.Job{
		Name: "backup", State: lock.StateIdle, LastEnd: broken.LastEnd, MaxAge: time.Hour,
		MaxAgeSince: ledgers.Before(2 * time.Hour),
	}
	unread := lock.Job{Name: "far", Unread: []string{"everything: connection | refused"}}
	for _, c := range []struct {
		rules Rules
		jobs  []lock.Job
		want  string
	}{
		{Rules{MaxAge: 26 * time.Hour, WarnAge: 25 * time.Hour}, []lock.Job{orders},
			"REDLOCKRUN CRITICAL - orders: no success for 27h (last 2026-02-28 11:30 UTC+02 on web-3), " +
				"limit 26h | 'orders age'=97200s;90000;93600;0"},
		{Rules{MaxAge: 28 * time.Hour, WarnAge: 25 * time.Hour}, []lock.Job{orders},
			"REDLOCKRUN WARNING - orders: no success for 27h (last 2026-02-28 11:30 UTC+02 on web-3), " +
				"limit 25h | 'orders age'=97200s;90000;100800;0"},
		{Rules{}, []lock.Job{orders, unread, broken},
			`REDLOCKRUN CRITICAL - a¦b='c: the last run ended: failed 3 on web-3, 1h ago; ` +
				`far: the holder of the lock is unknown (everything: connection ¦ refused); ` +
				`1 job is OK | 'orders age'=97200s;;;0`},
		{Rules{}, []lock.Job{orders, orders}, "REDLOCKRUN OK - 2 jobs are OK | " +
			"'orders age'=97200s;;;0 'orders age'=97200s;;;0"},
		{Rules{}, []lock.Job{expected}, "REDLOCKRUN CRITICAL - backup: overdue by 2h: no success for 27h " +
			"(last 2026-02-28 11:30 UTC+02 on web-3), limit 24h and 1h of pauses | 'backup age'=97200s;;90000;0"},
		{Rules{WarnAge: time.Hour}, []lock.Job{expected},
			"REDLOCKRUN CRITICAL - backup: overdue by 2h: " +
				"no success for 27h (last 2026-02-28 11:30 UTC+02 on web-3), " +
				"limit 24h and 1h of pauses | 'backup age'=97200s;3600;90000;0"},
		{Rules{MaxAge: 28 * time.Hour}, []lock.Job{expected},
			"REDLOCKRUN OK - backup: the last run ended: ok on web-3, 1d ago | 'backup age'=97200s;;100800;0"},
		{Rules{}, []lock.Job{paused}, "REDLOCKRUN OK - backup: the last run ended: ok on web-3, 1d ago, " +
			"paused by alice@desk, for ever | 'backup age'=97200s;;;0"},
		{Rules{}, []lock.Job{never},
			"REDLOCKRUN CRITICAL - backup: overdue by 1h: no success is recorded, limit 1h, " +
				"the last run ended: failed 3 on web-3, 1h ago"},
		{Rules{MaxFailures: 3}, []lock.Job{broken},
			"REDLOCKRUN OK - a¦b='c: the last run ended: failed 3 on web-3, 1h ago | 'a%7Cb%3D%27c failures'=1;;2;0"},
	} {
		for i := range c.jobs {
			c.jobs[i].Now = ledgers.Now
		}
		if got := Plugin(c.rules.JudgeAll(c.jobs, ledgers.Zone), nil); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// rules are some that a job may be held to.
func rulesOf(l *ledgers.Generator) (r Rules) {
	limit := func() time.Duration {
		if l.Often(60) {
			return 0
		}
		return time.Duration(1+l.IntN(72*3600)) * time.Second
	}
	r = Rules{MaxAge: limit(), WarnAge: limit(), MaxRuntime: limit()}
	if l.Often(40) {
		r.MaxFailures = 1 + l.IntN(4)
	}
	return r
}

// plainText reports whether a text has one line, and nothing that steers a terminal.
func plainText(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}

func TestTheLineOfAllJobsCountsWhatIsFine(t *testing.T) {
	t.Parallel()
	good := lock.Job{Name: "a", Now: ledgers.Now, State: lock.StateIdle,
		LastEnd: ledgers.Over('A', lock.EndOk, 0, time.Minute, time.Hour)}
	bad, unknown := good, lock.Job{Name: "c", Now: ledgers.Now, State: lock.StateIdle}
	bad.Name, bad.LastEnd = "b|", ledgers.Over('B', lock.EndFailed, 3, time.Minute, time.Hour)
	for want, jobs := range map[string][]lock.Job{
		"REDLOCKRUN OK - 2 jobs are OK | jobs=2":      {good, good},
		"REDLOCKRUN OK - 1 job is OK | jobs=1":        {good},
		"REDLOCKRUN UNKNOWN -  | jobs=0":              nil,
		"REDLOCKRUN UNKNOWN - c: never seen | jobs=1": {unknown},
		"REDLOCKRUN CRITICAL - b¦: the last run ended: failed 3 on web-3, 1h ago; " +
			"c: never seen; 1 job is OK | jobs=3": {unknown, good, bad},
	} {
		if got := PluginOfAll(Rules{}.JudgeAll(jobs, ledgers.Zone), nil); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"redlockrun/internal/lock"
	"redlockrun/internal/proof/ledgers"
)

var (
	headLine   = regexp.MustCompile(`^# (HELP|TYPE) (redlockrun_[a-z_]+) (.+)$`)
	sampleLine = regexp.MustCompile(`^(redlockrun_[a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\[\\"n])*",?)+)\})? (\S+)$`)
)

// readMetrics reads the text format as strictly as can be: each metric stands once and together, behind
// its help and type, and no series comes twice.
func readMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	if !strings.HasSuffix(text, "\n") || !utf8.ValidString(text) {
		t.Fatalf("%q is no text of lines", text)
	}
	samples, heads, current := map[string]float64{}, map[string]string{}, ""
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if head := headLine.FindStringSubmatch(line); head != nil {
			if heads[head[1]+head[2]] != "" || head[1] == "TYPE" &&
				(heads["HELP"+head[2]] == "" || head[3] != gauge && head[3] != counter) {
				t.Fatalf("%q stands in the wrong place", line)
			}
			heads[head[1]+head[2]], current = head[3], head[2]
			continue
		}
		sample := sampleLine.FindStringSubmatch(line)
		if sample == nil || sample[1] != current || heads["TYPE"+current] == "" || strings.HasSuffix(sample[2], ",") {
			t.Fatalf("%q stands behind %s, or is no sample", line, current)
		}
		v, err := strconv.ParseFloat(sample[3], 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			t.Fatalf("%q has the value %q", line, sample[3])
		}
		series := sample[1] + "{" + sample[2] + "}"
		if _, twice := samples[series]; twice {
			t.Fatalf("%s stands there twice", series)
		}
		samples[series] = v
	}
	return samples
}

func TestTheReaderOfMetricsIsStrict(t *testing.T) {
	t.Parallel()
	good := "# HELP redlockrun_x X.\n# TYPE redlockrun_x gauge\nredlockrun_x{key=\"a\\\"\\\\\\n\"} 1\n"
	if got := readMetrics(t, good); len(got) != 1 {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{
		`redlockrun_x{key="a"} -`, `redlockrun_x{key="a"b"} 1`, `redlockrun_x{key="a\x"} 1`,
		`redlockrun_y{key="a"} 1`, `redlockrun_x{key="a"}`,
		"",
	} {
		if m := sampleLine.FindStringSubmatch(bad); m != nil && m[1] == "redlockrun_x" {
			if _, err := strconv.ParseFloat(m[3], 64); err == nil {
				t.Errorf("%q passes for a sample", bad)
			}
		}
	}
}

func TestMetricsOfEachKindOfJob(t *testing.T) {
	t.Parallel()
	all := jobs()
	all[0].Counts = map[lock.EndKind]int64{lock.EndOk: 3, lock.EndFailed: 1}
	all[3].MaxAge = time.Hour
	all[0].LastSuccess = ledgers.Over('A', lock.EndOk, 0, time.Second, 3*time.Hour)
	got := readMetrics(t, Metrics(all))
	for series, want := range map[string]float64{
		`up{}`:                                                1,
		`jobs{}`:                                              float64(len(all)),
		`overdue{key="backup"}`:                               1,
		`overdue{key="hangs"}`:                                1,
		`overdue{key="invoices"}`:                             0,
		`due_timestamp_seconds{key="backup"}`:                 float64(ledgers.Before(2*time.Hour).UnixMilli()) / 1000,
		`due_timestamp_seconds{key="hangs"}`:                  float64(ledgers.Before(8*time.Hour).UnixMilli()) / 1000,
		`running{key="cancel-orders"}`:                        1,
		`running{key="rest"}`:                                 0,
		`running{key="nightly-report"}`:                       0,
		`lease_seconds{key="search-index"}`:                   12,
		`waiting{key="invoices"}`:                             5,
		`paused{key="invoices"}`:                              1,
		`paused{key="soon paused"}`:                           1,
		`vanished{key="gone"}`:                                1,
		`vanished{key="cancel-orders"}`:                       0,
		`silent{key="search-index"}`:                          1,
		`stuck{key="no end"}`:                                 1,
		`foreign{key="theirs\\x1b[31m"}`:                      1,
		`foreign{key="cancel-orders"}`:                        0,
		`mean_duration_seconds{key="cancel-orders"}`:          125,
		`last_exit_status{key="no end"}`:                      137,
		`runs_total{key="nightly-report",how="ok"}`:           3,
		`runs_total{key="nightly-report",how="vanished"}`:     0,
		`last_duration_seconds{key="rest"}`:                   0.04,
		`last_end_timestamp_seconds{key="rest"}`:              inSeconds(ledgers.Before(5 * time.Second)),
		`last_success_timestamp_seconds{key="invoices"}`:      inSeconds(ledgers.Before(25 * time.Hour)),
		`run_started_timestamp_seconds{key="search-index"}`:   inSeconds(ledgers.Before(31 * time.Minute)),
		`waiting{key="theirs\\x1b[31m"}`:                      0,
		`last_success_timestamp_seconds{key="cancel-orders"}`: inSeconds(ledgers.Before(4 * time.Minute)),
	} {
		if v, there := got["redlockrun_"+series]; !there || v != want {
			t.Errorf("%s is %v (%v), want %v", series, v, there, want)
		}
	}
	for _, series := range []string{
		`run_started_timestamp_seconds{key="gone"}`, `run_started_timestamp_seconds{key="rest"}`,
		`lease_seconds{key="no end"}`,
		`lease_seconds{key="invoices"}`, `last_exit_status{key="gone"}`, `runs_total{key="gone",how="ok"}`,
		`last_duration_seconds{key="unheard of"}`, `mean_duration_seconds{key="unheard of"}`,
		`overdue{key="unheard of"}`,
		`due_timestamp_seconds{key="unheard of"}`,
		`due_timestamp_seconds{key="invoices"}`, // it is paused
	} {
		if v, there := got["redlockrun_"+series]; there {
			t.Errorf("%s is %v, and never happened", series, v)
		}
	}
}

func TestMetricsOfNamesThatNobodyCouldGive(t *testing.T) {
	t.Parallel()
	var all []lock.Job
	for _, name := range []string{"\xff", `\xff`, "a\nb", ""} {
		all = append(all, lock.Job{Name: name, State: lock.StateIdle})
	}
	if got := readMetrics(t, Metrics(all)); len(got) != 2+3*7 {
		t.Errorf("%v", got)
	}
}

func TestMetricsOfAJobThatNobodyCanTell(t *testing.T) {
	t.Parallel()
	j := lock.Job{Name: "far", Unread: []string{"everything: no answer"}}
	if got := readMetrics(t, Metrics([]lock.Job{j})); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := readMetrics(t, MetricsDown()); len(got) != 1 || got["redlockrun_up{}"] != 0 {
		t.Errorf("%v", got)
	}
}

func TestMetricsOfAnyLedger(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		readMetrics(t, Metrics(ledgers.New(seed).Jobs(6)))
	}
}

func FuzzMetrics(f *testing.F) {
	f.Add(uint64(1), "orders", "report")
	f.Fuzz(func(t *testing.T, seed uint64, one, other string) {
		all := ledgers.New(seed).Jobs(6)
		for i := range all {
			all[i].Name = []string{one, other, all[i].Name}[i%3]
		}
		readMetrics(t, Metrics(all))
	})
}

func TestMetricsOfAThousandJobs(t *testing.T) {
	t.Parallel()
	var all []lock.Job
	for i := range 1000 {
		j := jobs()[2]
		j.Name, j.Counts = fmt.Sprintf("job-%03d", i), map[lock.EndKind]int64{}
		all = append(all, j)
	}
	text := Metrics(all)
	if got := readMetrics(t, text); len(got) != 2+1000*(14+len(lock.EndKinds())) {
		t.Errorf("%d series", len(got))
	}
	first, last := strings.Index(text, `waiting{key="job-000"}`), strings.Index(text, `waiting{key="job-999"}`)
	if first < 0 || last < first {
		t.Errorf("%d, %d", first, last)
	}
}

func inSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

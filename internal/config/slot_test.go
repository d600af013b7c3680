package config_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlockrun/internal/config"
	"redlockrun/internal/lock"
)

// slotAt is the name of the slot of --once-per p on a host whose clock shows now.
func slotAt(t testing.TB, p string, now time.Time) string {
	t.Helper()
	c, err := configure(map[string][]string{"key": {"x"}, "once-per": {p}}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	return c.Slot.Name
}

// configure is the configuration of flags alone, on a host whose clock shows now.
func configure(said map[string][]string, command []string, now time.Time) (config.Config, error) {
	unset := func(string) (string, bool) { return "", false }
	return config.NewSources(said, unset, func() time.Time { return now }).Config(command)
}

func in(t testing.TB, zone string) *time.Location {
	t.Helper()
	there, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func TestASlotIsNamedByItsPeriodAndBeginning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ period, now, zone, want string }{
		{"1m", "2026-03-01T12:05:59Z", "UTC", "1m 2026-03-01T12:05Z"},
		{"300", "2026-03-01T12:07:38Z", "UTC", "5m 2026-03-01T12:05Z"},
		{"300s", "2026-03-01T12:05:00Z", "Asia/Kathmandu", "5m 2026-03-01T12:05Z"},
		{"5m", "2026-03-01T12:09:59Z", "UTC", "5m 2026-03-01T12:05Z"},
		{"90", "2026-03-01T12:05:00Z", "UTC", "90s 2026-03-01T12:04:30Z"},
		{"1s", "2026-03-01T12:05:00Z", "UTC", "1s 2026-03-01T12:05:00Z"},
		{"60m", "2026-03-01T12:59:00Z", "Asia/Kolkata", "1h 2026-03-01T12:00Z"},
		{"120m", "2026-03-01T12:59:00Z", "UTC", "2h 2026-03-01T12:00"},
		{"6h", "2026-03-01T11:59:59Z", "UTC", "6h 2026-03-01T06:00"},
		{"12h", "2026-03-01T11:59:59Z", "Pacific/Chatham", "12h 2026-03-02T00:00"},
		{"24h", "2026-03-01T23:30:00Z", "Europe/Berlin", "1d 2026-03-02"},
		{"1d", "2026-03-01T00:00:00Z", "America/New_York", "1d 2026-02-28"},
		{"7d", "2026-03-01T23:59:59Z", "UTC", "7d 2026-02-23"},
		{"168h", "2026-03-02T00:00:00Z", "UTC", "7d 2026-03-02"},

		// The clock goes from 2:00 to 3:00.
		{"2h", "2026-03-29T00:59:59Z", "Europe/Berlin", "2h 2026-03-29T00:00"},
		{"2h", "2026-03-29T01:00:00Z", "Europe/Berlin", "2h 2026-03-29T02:00"},
		{"3h", "2026-03-29T01:00:00Z", "Europe/Berlin", "3h 2026-03-29T03:00"},
		{"1h", "2026-03-29T01:00:00Z", "Europe/Berlin", "1h 2026-03-29T01:00Z"},
		{"2h", "2026-10-25T00:30:00Z", "Europe/Berlin", "2h 2026-10-25T02:00"}, // the first 2:30
		{"2h", "2026-10-25T01:30:00Z", "Europe/Berlin", "2h 2026-10-25T02:00"}, // the second
		{"1h", "2026-10-25T00:30:00Z", "Europe/Berlin", "1h 2026-10-25T00:00Z"},
		{"1h", "2026-10-25T01:30:00Z", "Europe/Berlin", "1h 2026-10-25T01:00Z"},
		{"1d", "2026-03-08T05:00:00Z", "America/Havana", "1d 2026-03-08"}, // a day that begins at 1:00
		{"7d", "2026-03-08T05:00:00Z", "America/Havana", "7d 2026-03-02"},
		{"1d", "2011-12-30T10:00:00Z", "Pacific/Apia", "1d 2011-12-31"}, // behind a day that was left out
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := slotAt(t, c.period, now.In(in(t, c.zone))); got != c.want {
			t.Errorf("%s at %s in %s: %q, want %q", c.period, c.now, c.zone, got, c.want)
		}
	}
}

// A tick is a time that a crontab names, and the instants at which a clock that is right fires
// it: twice if it shows that time twice, and at its next minute if it leaves it out, as cron
// does. What is done each hour or more often knows none of that.
type tick struct {
	at    string
	fired []time.Time
}

// ticksOf returns the ticks of a crontab with the period p, while a clock in zone goes from one
// instant to another.
func ticksOf(p time.Duration, from, to time.Time, zone *time.Location) (all []tick) {
	minutes := int(p / time.Minute)
	last := from.Add(-time.Minute).In(zone)
	for now := from; now.Before(to); now = now.Add(time.Minute) {
		shown := now.In(zone)
		if p <= time.Hour && minuteOf(shown)%minutes == 0 {
			all = append(all, tick{now.UTC().Format(time.RFC3339), []time.Time{now}})
		}
		for _, at := range between(last, shown) {
			if p <= time.Hour || minuteOf(at)%minutes != 0 {
				continue
			}
			name := at.Format("2006-01-02 15:04")
			if n := len(all); n > 0 && all[n-1].at == name {
				all[n-1].fired = append(all[n-1].fired, now)
			} else {
				all = append(all, tick{name, []time.Time{now}})
			}
		}
		last = shown
	}
	return all
}

// between are the minutes that a clock has come to since last, the ones that it has left
// out among them, as if in UTC.
func between(last, shown time.Time) (all []time.Time) {
	from, to := wall(last), wall(shown)
	if !to.After(from) || to.Sub(from) > 2*time.Hour {
		from = to.Add(-time.Minute) // set back, or a day is left out
	}
	for at := from.Add(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		all = append(all, at)
	}
	return all
}

func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// minuteOf counts from Monday's midnight.
func minuteOf(at time.Time) int {
	return ((int(at.Weekday())+6)%7*24+at.Hour())*60 + at.Minute()
}

// Whatever the hosts' clocks show: they fire a tick when their own clock says so, and
// call it alike, and no two ticks have one name.
func TestAllHostsNameATickAlikeAndNoTwoTicks(t *testing.T) {
	t.Parallel()
	zones := map[string][]string{ // each with days on which the clock was changed
		"UTC":                  {"2026-01-01"},
		"Europe/Berlin":        {"2026-03-29", "2026-10-25"},
		"Europe/Helsinki":      {"2026-03-29", "2026-10-25"}, // at 3:00 and 4:00
		"America/New_York":     {"2026-03-08", "2026-11-01"},
		"America/Scoresbysund": {"2022-03-27", "2022-10-30"}, // at midnight and at 1:00
		"America/Havana":       {"2026-03-08", "2026-11-01"}, // the same
		"America/Sao_Paulo":    {"2018-02-18", "2018-11-04"}, // at midnight, back to the day before
		"Asia/Kolkata":         {"2026-01-01"},               // + 5:30
		"Asia/Kathmandu":       {"2026-01-01"},               // + 5:45
		"Australia/Adelaide":   {"2026-04-05", "2026-10-04"}, // + 9:30
		"Pacific/Chatham":      {"2026-04-05", "2026-09-27"}, // + 12:45
		"Australia/Lord_Howe":  {"2026-04-05", "2026-10-04"}, // by half an hour
	}
	periods := []string{"1m", "2m", "5m", "10m", "15m", "20m", "30m", "1h", "2h", "3h", "4h", "6h", "8h", "12h",
		"24h", "168h"}
	for zone, days := range zones {
		there := in(t, zone)
		for _, day := range days {
			change, err := time.ParseInLocation(time.DateOnly, day, there)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range periods {
				length, _ := time.ParseDuration(p)
				around := max(length, min(40*length, 36*time.Hour))
				from, to := change.Add(-max(around, time.Hour)), change.Add(max(around, 5*time.Hour))
				alike(t, p, zone, ticksOf(length, from, to, there), there)
			}
		}
	}
}

// alike fails the test unless each tick has one name, which no other tick has.
func alike(t *testing.T, p, zone string, ticks []tick, there *time.Location) {
	t.Helper()
	length, _ := time.ParseDuration(p)
	names := make(map[string]string)
	for _, tick := range ticks {
		var name string
		for host := range 3 {
			ahead := time.Duration(host-1) * length * 9 / 20 // 0.9 of a period from the first to the last
			for _, fired := range tick.fired {
				began := fired.Add(-ahead)                                         // its clock shows that then
				started := began.Add(time.Duration(host) * 700 * time.Millisecond) // a busy host starts late
				got := slotAt(t, p, started.Add(ahead).In(there))
				if name == "" {
					name = got
				}
				if got != name {
					t.Fatalf("%s in %s: the tick %s is %q to host %d and %q to others", p, zone, tick.at, got, host,
						name)
				}
			}
		}
		if other, taken := names[name]; taken {
			t.Fatalf("%s in %s: the ticks %s and %s are both %q", p, zone, other, tick.at, name)
		}
		names[name] = tick.at
	}
	if len(ticks) == 0 {
		t.Errorf("%s in %s: no ticks", p, zone)
	}
}

func TestLocalTimeIsThatOfTZ(t *testing.T) {
	t.Parallel()
	for tz, want := range map[string]string{
		"":                 "1d 2026-03-01",
		"UTC":              "1d 2026-03-01",
		"Asia/Tokyo":       "1d 2026-03-02",
		":Asia/Tokyo":      "1d 2026-03-02",
		"Pacific/Honolulu": "1d 2026-03-01",
	} {
		now := time.Date(2026, 3, 1, 16, 0, 0, 0, time.UTC)
		c, err := readAt(now, map[string]string{"TZ": tz}, "key=x", "once-per=1d")
		if err != nil || c.Slot.Name != want {
			t.Errorf("TZ=%q: %q, %v; want %q", tz, c.Slot.Name, err, want)
		}
	}
	for _, tz := range []string{"Europe/Nowhere", "/nonexistent", "../etc/passwd", "/etc/passwd", "Local"} {
		_, err := read(map[string]string{"TZ": tz}, "key=x", "once-per=2h")
		wantRefused(t, err, "TZ: ", "is not a known time zone", "Europe/Berlin")
		if _, err := read(map[string]string{"TZ": tz}, "key=x", "once-per=1h"); err != nil {
			t.Errorf("TZ=%s, which an hour does not need: %v", tz, err)
		}
	}
}

func TestInvalidSlotsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		args []string
		want []string
	}{
		{nil, []string{"once-per=5m", "once=a"}, []string{"--once-per and --once contradict each other"}},
		{nil, []string{"tries=3"}, []string{"--tries needs --once-per or --once", "--once-per P or --once ID"}},
		{map[string]string{"REDLOCKRUN_TRIES": "3"}, nil, []string{"REDLOCKRUN_TRIES needs --once-per or --once"}},
		{nil, []string{"once=a", "tries=0"}, []string{"--tries 0 lets nothing run", "the minimum is 1"}},
		{nil, []string{"once=a", "tries=101"}, []string{"a number from 0 to 100"}},
		{nil, []string{"attempts=0"}, []string{"--attempts 0 lets nothing run", "the minimum is 1"}},
		{nil, []string{"attempts=1001"}, []string{"1000"}},
		{nil, []string{"attempt-delay=11m"}, []string{"--attempt-delay 11m is too long", "10m"}},
		{nil, []string{"history=10001"}, []string{"10000"}},
		{nil, []string{"report-file="}, []string{"--report-file is empty"}},
		{nil, []string{"once="}, []string{"--once is empty"}},
		{nil, []string{"once=" + strings.Repeat("x", 129)},
			[]string{"--once is longer than 128 bytes", "1 to 128 bytes"}},
		{nil, []string{"once=a\nb"}, []string{"control character"}},
		{nil, []string{"once=a\xff"}, []string{"UTF-8"}},
		{nil, []string{"once-per=0"}, []string{"--once-per: the period does not divide", "use 1s: "}},
		{nil, []string{"once-per=0.5"}, []string{"use 1s: "}},
		{nil, []string{"once-per=7m"},
			[]string{"use 6m: P must divide an hour, or be 2h, 3h, 4h, 6h, 8h, 12h, 1d or 7d"}},
		{nil, []string{"once-per=61.5"}, []string{"use 1m: "}},
		{nil, []string{"once-per=45m"}, []string{"use 30m: "}},
		{nil, []string{"once-per=90m"}, []string{"use 1h: "}},
		{nil, []string{"once-per=5h"}, []string{"use 4h: "}},
		{nil, []string{"once-per=2d"}, []string{"use 1d: "}},
		{nil, []string{"once-per=400d"}, []string{"use 7d: "}},
		{nil, []string{"once-per=99999999d"}, []string{"not a duration"}},
		{nil, []string{"once-per=daily"}, []string{`--once-per: "daily" is not a duration`, "1d, 7d"}},
		{nil, []string{"once-per=-1d"}, []string{"not a duration"}},
		{nil, []string{"once-per=5m", "local"},
			[]string{"--once-per and --local cannot be combined", "slots are kept in Redis"}},
		{map[string]string{"REDLOCKRUN_LOCAL": "1"}, []string{"once=a"},
			[]string{"--once and REDLOCKRUN_LOCAL cannot be combined"}},
		{nil, []string{"key-from-command"}, []string{"--key and --key-from-command contradict each other"}},
	} {
		_, err := read(c.env, append([]string{"key=x"}, c.args...)...)
		wantRefused(t, err, c.want...)
	}
}

func TestTheSuggestedPeriodIsValid(t *testing.T) {
	t.Parallel()
	accepted := 0
	for seconds := 0; seconds < 8*24*3600; seconds += 1 + seconds/100 {
		p := strconv.Itoa(seconds)
		_, err := read(nil, "key=x", "once-per="+p)
		if err == nil {
			accepted++
			continue
		}
		wantRefused(t, err, ": P must divide an hour")
		var usage *config.UsageError
		errors.As(err, &usage)
		named, _, _ := strings.Cut(strings.TrimPrefix(usage.Hints[0], "use "), ":")
		if _, err := read(nil, "key=x", "once-per="+named); err != nil {
			t.Errorf("%s in place of %s: %v", named, p, err)
		}
	}
	if accepted == 0 {
		t.Error("none was accepted")
	}
}

func TestTriesInTheFileAreForTheRunsOfASlot(t *testing.T) {
	t.Parallel()
	env := configFile(t, "REDLOCKRUN_TRIES=5\n")
	if c, err := read(env, "key=x"); err != nil || c.Slot != (lock.Slot{}) {
		t.Errorf("%+v, %v", c.Slot, err)
	}
	if c, err := read(env, "key=x", "once=y"); err != nil || c.Slot != (lock.Slot{Name: "y", Tries: 5}) {
		t.Errorf("%+v, %v", c.Slot, err)
	}
}

func TestALocalLockKeepsNoHistory(t *testing.T) {
	t.Parallel()
	if c, err := read(nil, "key=x", "local", "history=9"); err != nil || c.History != 0 {
		t.Errorf("%d, %v", c.History, err)
	}
}

func TestAKeyIsMadeOfAllWords(t *testing.T) {
	t.Parallel()
	made := func(command []string) (config.Config, error) {
		return configure(map[string][]string{"key-from-command": {"true"}}, command, someNoon)
	}
	keys := make(map[string][]string)
	for _, command := range [][]string{{"a"}, {"a", ""}, {"/bin/a"}, {"a", "b c"}, {"a", "b", "c"},
		{"/bin/sh", "-c", "a b"}} {
		c, err := made(command)
		name, sum, _ := strings.Cut(c.Key, "-")
		if err != nil || len(sum) != 16 || !strings.HasSuffix(command[0], name) {
			t.Errorf("%q: %q, %v", command, c.Key, err)
		}
		if keys[sum] != nil {
			t.Errorf("%q and %q have one key", keys[sum], command)
		}
		keys[sum] = command
	}
	if c, _ := made([]string{"/bin/cmd", "arg"}); c.Key != "cmd-b8b91ab311fcb0ea" {
		t.Errorf("%q, but printf '/bin/cmd\\0arg\\0' | sha256sum begins with b8b91ab311fcb0ea", c.Key)
	}
	_, err := made([]string{"a\nb"})
	wantRefused(t, err, "the command's name contains a control character", "--key NAME")
}

func TestHowOldTheLastSuccessMayBecome(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"26h": 26 * time.Hour, "1": time.Second, "1d": 24 * time.Hour,
		"45d": 45 * 24 * time.Hour, "1080h": 1080 * time.Hour, "0": 0, "0s": 0,
	} {
		c, err := read(nil, "key=x", "max-age="+text)
		if err != nil || c.MaxAge != (lock.MaxAge{Set: true, Limit: want}) {
			t.Errorf("%s: %+v, %v", text, c.MaxAge, err)
		}
	}
	for text, say := range map[string]string{
		"0.5": "--max-age 500ms is too short", "46d": "--max-age 46d is too long\nthe maximum is 45d",
		"daily": `"daily" is not a duration`, "-1h": "is not a duration", "": "--max-age is empty",
	} {
		_, err := read(nil, "key=x", "max-age="+text)
		wantRefused(t, err, say)
	}
	file := configFile(t, "REDLOCKRUN_MAX_AGE=1h")
	for say, flags := range map[string][]string{
		"--max-age and --local cannot be combined":      {"max-age=1h", "local"},
		"--max-age and --history 0 cannot be combined":  {"max-age=1h", "history=0"},
		"REDLOCKRUN_MAX_AGE in ":                        {"history=0"},
		" and --local cannot be combined: a local lock": {"local"},
	} {
		_, err := read(file, append(flags, "key=x")...)
		wantRefused(t, err, say, "--max-age 0 turns it off")
	}
	for _, flags := range [][]string{{"max-age=0", "local"}, {"max-age=0", "history=0"}} {
		if c, err := read(file, append(flags, "key=x")...); err != nil || c.MaxAge.Limit != 0 {
			t.Errorf("%q: %+v, %v", flags, c.MaxAge, err)
		}
	}
}

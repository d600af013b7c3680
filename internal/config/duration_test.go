package config_test

import (
	"strings"
	"testing"
	"time"

	"redlockrun/internal/config"
)

func TestDurationsAreSecondsOrGoDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "60": time.Minute, "0.5": 500 * time.Millisecond, "1.25": 1250 * time.Millisecond,
		"90s": 90 * time.Second, "2m30s": 150 * time.Second, "1h": time.Hour, "1.5h": 90 * time.Minute,
		"250ms": 250 * time.Millisecond, "10us": 10 * time.Microsecond, "10µs": 10 * time.Microsecond,
		"007": 7 * time.Second, "5.": 5 * time.Second,
	} {
		if got, err := config.ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestDurationsHaveNoSignAndNoExponent(t *testing.T) {
	for _, text := range []string{
		"", " ", "-1", "+1", "-1s", "1e9", "1e9h", "NaN", "inf", "\uff11s", " 1", "1 ", "1 s", "s", ".", "..5", ".5",
		"1..5",
		"1h30", "1d", "1S", "0x10", "1_000", "forever", "99999999999999999999", "9999999h", "1\x00", "1m-3s",
	} {
		if got, err := config.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"60", "0.5", "2m30s", "-1s", "1e9", "1s", "µs", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := config.ParseDuration(text)
		if err != nil {
			return
		}
		if d < 0 || strings.ContainsAny(text, "+-eE \t\n") || text[0] < '0' || text[0] > '9' {
			t.Fatalf("ParseDuration(%q) = %v", text, d)
		}
		if again, err := config.ParseDuration(config.Exact(d)); err != nil || again != d {
			t.Fatalf("ParseDuration(Exact(%v)) = %v, %v", d, again, err)
		}
	})
}

func TestDurationsAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h", 500 * time.Millisecond: "500ms",
		10 * time.Second:   "10s",
		7 * 24 * time.Hour: "168h", 61 * time.Minute: "1h1m",
	} {
		if got := config.Exact(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

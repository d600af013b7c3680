package main

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsWhatTheBuildKnows(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: commit},
			{Key: "vcs.time", Value: "2026-03-01T12:05:00Z"}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		module   string
		settings []debug.BuildSetting
		known    string
		want     string
	}{
		{"v1.2.0", vcs("false"), "", "v1.2.0 (commit " + commit + ", 2026-03-01T12:05:00Z)"},
		{"v1.2.0+dirty", vcs("true"), "", "v1.2.0 (commit " + commit + ", 2026-03-01T12:05:00Z, with changes)"},
		{"v1.2.0-rc.1", nil, "", "v1.2.0-rc.1"}, // by go install PATH@VERSION
		{"v0.0.0-20260301120500-0123456789ab", vcs("false"), "",
			"untagged (commit " + commit + ", 2026-03-01T12:05:00Z)"},
		{"v1.2.1-0.20260301120500-0123456789ab", nil, "", "untagged (commit 0123456789ab, 2026-03-01T12:05:00Z)"},
		{"v1.2.1-rc.1.0.20260301120500-0123456789ab+dirty", nil, "",
			"untagged (commit 0123456789ab, 2026-03-01T12:05:00Z, with changes)"},
		{"(devel)", vcs("true"), "", "untagged (commit " + commit + ", 2026-03-01T12:05:00Z, with changes)"},
		{"(devel)", nil, "v1.2.0 " + commit + " 2026-03-01T12:05:00Z",
			"v1.2.0 (commit " + commit + ", 2026-03-01T12:05:00Z)"},
		{"(devel)", nil, "untagged abc 2026-03-01T12:05:00Z dirty",
			"untagged (commit abc, 2026-03-01T12:05:00Z, with changes)"},
		{"v1.3.0", vcs("false"), "v1.2.0 abc 2026-03-01T12:05:00Z",
			"v1.3.0 (commit " + commit + ", 2026-03-01T12:05:00Z)"},
		{"(devel)", nil, "", "of an unknown version"},
		{"", nil, "", "of an unknown version"},
	} {
		info := &debug.BuildInfo{Settings: c.settings}
		info.Main.Version = c.module
		if got := originOf(info, c.known).String(); got != c.want {
			t.Errorf("%q, %q, %q: %q, want %q", c.module, c.settings, c.known, got, c.want)
		}
	}
}

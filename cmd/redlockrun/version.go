package main

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// known describes a tree where Go sees no repository, such as a source archive. scripts/version.sh
// prints it: TAG COMMIT DATE, and "dirty" behind them if it was changed. The linker sets it.
var known string

// version returns the text of --version.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return "redlockrun " + originOf(info, known).String() + " " + runtime.Version() + " " + runtime.GOOS + "/" +
		runtime.GOARCH + "\n"
}

// A provenance says what a program was built from. Unknown parts are "".
type provenance struct {
	tag     string
	commit  string
	date    string // of the commit, in UTC
	changed bool   // there were changes that no commit has
}

// originOf finds out what was built: from the repository that Go saw, else from the module's
// version, else from the linker's text.
func originOf(info *debug.BuildInfo, known string) provenance {
	p := moduleVersion(info.Main.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			p.commit = s.Value
		case "vcs.time":
			p.date = s.Value
		case "vcs.modified":
			p.changed = p.changed || s.Value == "true"
		}
	}
	if words := strings.Fields(known); p.tag == "" && p.commit == "" && len(words) >= 3 {
		return provenance{strings.TrimPrefix(words[0], "untagged"), words[1], words[2], len(words) > 3}
	}
	return p
}

// moduleVersion reads the version of a module: a tag, or a version that Go makes for a commit
// without a tag, v0.0.0-20260301120500-0123456789ab.
func moduleVersion(version string) (p provenance) {
	if version == "(devel)" {
		return p
	}
	version, p.changed = strings.CutSuffix(version, "+dirty")
	p.tag = version
	before, commit, _ := cutLast(version, "-")
	at := strings.LastIndexAny(before, "-.") + 1
	if made, err := time.Parse("20060102150405", before[at:]); err == nil && len(commit) == 12 {
		p.tag, p.commit, p.date = "", commit, made.Format(time.RFC3339)
	}
	return p
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

func (p provenance) String() string {
	if p.tag == "" && p.commit == "" {
		return "of an unknown version"
	}
	var more []string
	if p.commit != "" {
		more = append(more, "commit "+p.commit)
	}
	if p.date != "" {
		more = append(more, p.date)
	}
	if p.changed {
		more = append(more, "with changes")
	}
	text := cmp.Or(p.tag, "untagged")
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

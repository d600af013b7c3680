// Command sbom says what is in a release, by what Go recorded in the programs and by what go
// list finds in the sources; both must agree:
//
//	sbom NAME "TAG COMMIT DATE" TO.spdx.json LICENCES PROGRAM...
//
// It writes SPDX 2.3, and LICENCES, the texts of the licences of everything that is linked in:
// most of them want to be where the program is. Each PROGRAM is .../GOARCH/redlockrun, for Linux.
package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 5 || len(strings.Fields(args[1])) != 3 {
		return errors.New(`usage: sbom NAME "TAG COMMIT DATE" TO.spdx.json LICENCES PROGRAM [PROGRAM ...]`)
	}
	known := strings.Fields(args[1])
	r := release{name: args[0], commit: known[1], date: known[2]}
	for _, path := range args[4:] {
		if err := r.add(path); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	if err := r.license(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r.document(), "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(args[2], append(text, '\n'), 0o644),
		os.WriteFile(args[3], []byte(r.texts()), 0o644))
}

// A release is what several programs, one for each processor, consist of.
type release struct {
	name, commit, date string
	programs           []program
	goVersion          string
	parts              []part // by name; Go's library is the first, ours the last
}

// A program is a built file.
type program struct {
	arch string
	text []byte
}

// A part is a module that is linked in.
type part struct {
	path, version, sum string
	dir                string // where its licence is
	license, text      string
}

// add reads a program, and compares it with those before it and with the sources.
func (r *release) add(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil {
		return err
	}
	arch := filepath.Base(filepath.Dir(path))
	sources, err := listed(arch)
	if err != nil {
		return err
	}
	recorded := map[string]string{}
	for _, m := range info.Deps {
		recorded[m.Path] = m.Version
	}
	if !maps.EqualFunc(recorded, sources, func(version string, m module) bool { return version == m.Version }) {
		return fmt.Errorf("it consists of %v, the sources of %v", recorded, sources)
	}
	parts := partsOf(info.Deps, sources)
	if len(r.programs) > 0 && (!slices.Equal(parts, r.parts) || info.GoVersion != r.goVersion) {
		return fmt.Errorf("it differs from that for %s in its parts", r.programs[0].arch)
	}
	r.parts, r.goVersion = parts, info.GoVersion
	r.programs = append(r.programs, program{arch, text})
	return nil
}

func partsOf(deps []*debug.Module, sources map[string]module) (parts []part) {
	for _, m := range deps {
		parts = append(parts, part{path: m.Path, version: m.Version, sum: m.Sum, dir: sources[m.Path].Dir})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.path, b.path) })
	return parts
}

// A module is one as go list tells of it.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// listed are the modules that the program's packages are from, without its own.
func listed(arch string) (map[string]module, error) {
	cmd := exec.Command("go", "list", "-buildvcs=false", "-deps", "-json=Module", "./cmd/redlockrun")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the sources: %w", err)
	}
	found := map[string]module{}
	for stream := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ Module *module }
		switch err := stream.Decode(&p); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("list the sources: %w", err)
		case p.Module != nil && !p.Module.Main:
			found[p.Module.Path] = *p.Module
		}
	}
}

// license finds the licence of each part, of Go's own library, and ours.
func (r *release) license() error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("ask where Go is: %w", err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(r.goVersion, "go"), "-X:") // what it was built with stands behind
	std := part{path: "std", version: version, dir: strings.TrimSpace(string(root))}
	r.parts = append([]part{std}, append(r.parts, part{path: "redlockrun", version: r.name, dir: "."})...)
	for i := range r.parts {
		p := &r.parts[i]
		if p.text, err = licenseIn(p.dir); err == nil {
			p.license, err = identify(p.text)
		}
		if err != nil {
			return fmt.Errorf("find the licence of %s: %w", p.path, err)
		}
	}
	return nil
}

func licenseIn(dir string) (string, error) {
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if !errors.Is(err, os.ErrNotExist) {
			return string(text), err
		}
	}
	return "", fmt.Errorf("%s has no file of that name", dir)
}

// identify tells a licence's name in SPDX by its words. Somebody must read one that it does not know.
func identify(text string) (string, error) {
	words := strings.Join(strings.Fields(text), " ")
	has := func(part string) bool { return strings.Contains(words, part) }
	switch {
	case has("Apache License Version 2.0"):
		return "Apache-2.0", nil
	case has("Redistribution and use in source and binary forms") && has("Neither the name"):
		return "BSD-3-Clause", nil
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause", nil
	case has("Permission is hereby granted, free of charge"):
		return "MIT", nil
	}
	return "", errors.New("its words are none of those that are known here")
}

// texts are all licences, ours first.
func (r *release) texts() string {
	var text strings.Builder
	ours := r.parts[len(r.parts)-1]
	fmt.Fprintf(&text, "redlockrun is under this licence (%s):\n\n%s", ours.license, strings.TrimSpace(ours.text)+"\n")
	for _, p := range r.parts[:len(r.parts)-1] {
		fmt.Fprintf(&text, "\n%s\n%s %s is linked into it, under this licence (%s):\n\n%s\n",
			strings.Repeat("-", 72), p.title(), p.version, p.license, strings.TrimSpace(p.text))
	}
	return text.String()
}

func (p part) title() string {
	if p.path == "std" {
		return "Go's library"
	}
	return p.path
}

package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"strings"
)

// A document is one of SPDX 2.3, with what we have to say in it.
type document struct {
	Version           string         `json:"spdxVersion"`
	License           string         `json:"dataLicense"`
	ID                string         `json:"SPDXID"`
	Name              string         `json:"name"`
	Namespace         string         `json:"documentNamespace"`
	Creation          creation       `json:"creationInfo"`
	Packages          []spdxPackage  `json:"packages"`
	Files             []spdxFile     `json:"files"`
	Relationships     []relationship `json:"relationships"`
	DocumentDescribes []string       `json:"documentDescribes"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID               string      `json:"SPDXID"`
	Name             string      `json:"name"`
	Version          string      `json:"versionInfo"`
	Download         string      `json:"downloadLocation"`
	FilesAnalyzed    bool        `json:"filesAnalyzed"`
	LicenseConcluded string      `json:"licenseConcluded"`
	LicenseDeclared  string      `json:"licenseDeclared"`
	Copyright        string      `json:"copyrightText"`
	Source           string      `json:"sourceInfo,omitempty"`
	References       []reference `json:"externalRefs,omitempty"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxFile struct {
	ID               string     `json:"SPDXID"`
	Name             string     `json:"fileName"`
	Types            []string   `json:"fileTypes"`
	Checksums        []checksum `json:"checksums"`
	LicenseConcluded string     `json:"licenseConcluded"`
	LicenseInFile    []string   `json:"licenseInfoInFiles"`
	Copyright        string     `json:"copyrightText"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	oursID     = "SPDXRef-redlockrun"
	unknown    = "NOASSERTION"
)

func (r *release) document() document {
	d := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: documentID, Name: "redlockrun-" + r.name,
		Namespace:         "https://spdx.org/spdxdocs/redlockrun-" + r.name + "-" + r.commit,
		Creation:          creation{r.date, []string{"Tool: scripts/sbom of redlockrun, with " + r.goVersion}},
		DocumentDescribes: []string{oursID},
	}
	d.relate(documentID, "DESCRIBES", oursID)
	for i, p := range r.parts {
		entry := p.entry(i)
		if p.path == "redlockrun" {
			entry.ID, entry.Source = oursID, "built from the commit "+r.commit
		} else {
			d.relate(oursID, "DEPENDS_ON", entry.ID)
		}
		d.Packages = append(d.Packages, entry)
	}
	for _, p := range r.programs {
		file := p.entry(r.parts[len(r.parts)-1].license)
		d.Files = append(d.Files, file)
		d.relate(oursID, "CONTAINS", file.ID)
	}
	return d
}

func (d *document) relate(from, how, to string) {
	d.Relationships = append(d.Relationships, relationship{from, how, to})
}

// entry is a part's; number makes its id, since a path may have bytes that no id can have.
func (p part) entry(number int) spdxPackage {
	e := spdxPackage{
		ID: fmt.Sprintf("SPDXRef-Part-%d", number), Name: p.path, Version: p.version, Download: unknown,
		LicenseConcluded: p.license, LicenseDeclared: p.license, Copyright: copyright(p.text),
	}
	if p.path != "redlockrun" {
		e.References = []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + p.path + "@" + p.version}}
	}
	if p.sum != "" { // as in go.sum: of a list of files, so none of SPDX's own kinds
		e.References = append(e.References, reference{"OTHER", "go.sum", p.sum})
		e.Download = "https://proxy.golang.org/" + escaped(p.path) + "/@v/" + escaped(p.version) + ".zip"
	}
	return e
}

// escaped is a module's path or version as the module proxy wants it: ! and a small letter for a capital one.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('!')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// copyright are the lines of a licence that say whose it is.
func copyright(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Copyright ") && strings.ContainsAny(line, "0123456789") {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return unknown
	}
	return strings.Join(lines, "\n")
}

func (p program) entry(license string) spdxFile {
	return spdxFile{
		ID: "SPDXRef-linux-" + p.arch, Name: "./linux-" + p.arch + "/redlockrun", Types: []string{"BINARY"},
		Checksums: []checksum{
			{"SHA1", fmt.Sprintf("%x", sha1.Sum(p.text))}, // which SPDX demands
			{"SHA256", fmt.Sprintf("%x", sha256.Sum256(p.text))},
		},
		LicenseConcluded: license, LicenseInFile: []string{license}, Copyright: unknown,
	}
}

package scripts

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// privateWords are words that readers stumbled over, with what to write instead. An identifier must
// not contain one of them.
var privateWords = map[string]string{
	"uncalled": "polling, not notified", "deaf": "polling", "hopeless": "unreachable", "hush": "unsubscribe",
	"unbowed": "ignores pauses", "attend": "supervise, run interruptibly", "farewell": "release request",
	"goodbye": "release request", "parting": "release request", "sown": "seeded fault", "whence": "source",
	"hearsay": "gossip", "astray": "in flight", "heed": "obey", "teller": "observer", "slaughter": "fault injection",
	"rage": "fault injection", "hardship": "network profile", "befall": "happen to",
}

// TestIdentifiersAvoidPrivateWords keeps words out of names in Go and Lua that a newcomer does not know.
func TestIdentifiersAvoidPrivateWords(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".tools" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		var names []string
		switch filepath.Ext(path) {
		case ".go":
			names = goNames(t, path)
		case ".lua":
			names = luaNames(t, path)
		}
		for _, name := range names {
			for _, part := range parts(name) {
				if better := privateWords[part]; better != "" {
					t.Errorf("%s: %s contains %q: write %s", path, name, part, better)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// goNames returns the identifiers of a file, each once.
func goNames(t *testing.T, path string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(path, -1, len(text)), text, nil, 0)
	for {
		_, tok, name := s.Scan()
		if tok == token.EOF {
			slices.Sort(names)
			return slices.Compact(names)
		}
		if tok == token.IDENT {
			names = append(names, name)
		}
	}
}

var (
	luaText = regexp.MustCompile(`(?s)--\[\[.*?\]\]|--[^\n]*|'[^'\n]*'|"[^"\n]*"`)
	luaName = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// luaNames returns the identifiers of a file, each once, without comments and strings.
func luaNames(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := luaName.FindAllString(luaText.ReplaceAllString(string(text), ""), -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// parts splits a name at underscores and capitals, into small letters.
func parts(name string) (all []string) {
	var part []rune
	end := func() {
		if len(part) > 0 {
			all = append(all, strings.ToLower(string(part)))
		}
		part = nil
	}
	letters := []rune(name)
	for i, r := range letters {
		next := i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if r == '_' || unicode.IsUpper(r) && (i > 0 && unicode.IsLower(letters[i-1]) || next) {
			end()
		}
		if r != '_' {
			part = append(part, r)
		}
	}
	end()
	return all
}

func TestNamesAreSplitIntoWords(t *testing.T) {
	for name, want := range map[string]string{
		"giveBack": "give back", "TestAPIKey": "test api key", "call_back": "call back", "ID": "id",
		"heedsACL": "heeds acl",
	} {
		if got := strings.Join(parts(name), " "); got != want {
			t.Errorf("parts of %s: got %q, want %q", name, got, want)
		}
	}
}

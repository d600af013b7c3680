package scripts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// A room is a package of the tree, with what it imports beside the standard library.
type room struct {
	ImportPath string
	GoFiles    []string
	Imports    []string

	ours, others []string
	height       int // how many rooms stand below it, one on the other
}

const module = "redlockrun/"

// rooms are the packages that have code beside tests, on Linux.
func rooms(t *testing.T) map[string]*room {
	t.Helper()
	list := output(t, "..", "env", "GOOS=linux", "CGO_ENABLED=0", "go", "list", "-json=ImportPath,GoFiles,Imports",
		"./...")
	all := map[string]*room{}
	for in := json.NewDecoder(strings.NewReader(list)); ; {
		var r room
		if err := in.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(r.GoFiles) > 0 {
			r.sort()
			all[short(r.ImportPath)] = &r
		}
	}
	for _, r := range all {
		r.rise(all)
	}
	return all
}

// sort tells what is ours from what is not.
func (r *room) sort() {
	for _, path := range r.Imports {
		if strings.HasPrefix(path, module) {
			r.ours = append(r.ours, short(path))
		} else if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			r.others = append(r.others, foreign(path))
		}
	}
	slices.Sort(r.ours)
	slices.Sort(r.others)
	r.others = slices.Compact(r.others)
}

// short is a path as the picture has it.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
}

// foreign is the name of the module that a path is of: x/sys, go-redis, cobra.
func foreign(path string) string {
	part := strings.Split(path, "/")
	switch {
	case part[0] == "golang.org":
		return part[1] + "/" + part[2]
	case len(part) > 2:
		return part[2]
	}
	return part[1]
}

func (r *room) rise(all map[string]*room) int {
	if r.height == 0 {
		r.height = 1
		for _, name := range r.ours {
			r.height = max(r.height, 1+all[name].rise(all))
		}
	}
	return r.height
}

// below are the rooms that can be reached from one, and itself.
func below(all map[string]*room, name string, seen map[string]bool) map[string]bool {
	seen[name] = true
	for _, next := range all[name].ours {
		below(all, next, seen)
	}
	return seen
}

// picture is what docs/dev/architecture.md shows: the program, then what stands beside it;
// each room above those that it imports.
func picture(all map[string]*room) string {
	program := below(all, "cmd/redlockrun", map[string]bool{})
	var text strings.Builder
	for _, part := range []bool{true, false} {
		var names []string
		for name := range all {
			if program[name] == part {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(all[b].height-all[a].height,
				strings.Compare(a, b))
		})
		for _, name := range names {
			r := all[name]
			line := fmt.Sprintf("%-22s -> %s", name, strings.Join(r.ours, " "))
			if len(r.others) > 0 {
				line = fmt.Sprintf("%-66s + %s", line, strings.Join(r.others, " "))
			}
			fmt.Fprintln(&text, strings.TrimRight(line, " "))
		}
		fmt.Fprintln(&text)
	}
	return strings.TrimRight(text.String(), "\n") + "\n"
}

// shown is the block of docs/dev/architecture.md behind the line <!-- test: NAME -->.
func shown(t *testing.T, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, "docs/dev/architecture.md"), "<!-- test: "+name+" -->\n```\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("docs/dev/architecture.md has no block %s", name)
	}
	return block
}

func TestThePictureOfImportsIsTrue(t *testing.T) {
	t.Parallel()
	if want := picture(rooms(t)); shown(t, "imports") != want {
		t.Errorf("docs/dev/architecture.md shows other imports than there are (scripts/imports.sh says what may be). "+
			"These are:\n%s", want)
	}
}

func TestTheTreeIsTold(t *testing.T) {
	t.Parallel()
	var told []string
	for line := range strings.Lines(shown(t, "tree")) {
		path, what, _ := strings.Cut(line, " ")
		told = append(told, path)
		if info, err := os.Stat("../" + path); err != nil || !info.IsDir() || strings.TrimSpace(what) == "" {
			t.Errorf("docs/dev/architecture.md: there is no directory %s, or nothing is said of it", path)
		}
	}
	for path := range strings.FieldsSeq(output(t, "..", "go", "list", "-tags", "e2e", "./...")) {
		if path = strings.TrimPrefix(path, module); !slices.Contains(told, path) {
			t.Errorf("docs/dev/architecture.md: the tree lacks %s", path)
		}
	}
}

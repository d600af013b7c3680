package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A message is a text of the program that people read. A value that is filled in stands as %v.
type message struct {
	file string // from the top of the tree
	line int
	text string
}

// find returns the messages of the Go files of some directories, in their order.
func find(top string, dirs []string) (all []message, err error) {
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			found, err := inFile(top, path)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func inFile(top, path string) (all []message, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(top, path)
	if err != nil {
		return nil, err
	}
	return inSource(name, source)
}

// inSource returns the messages of one file: each text of two words or more, unless it is compared
// with something or is no text for people.
func inSource(name string, source []byte) (all []message, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		text, whole := textOf(n)
		if whole && isForPeople(text) {
			all = append(all, message{name, fset.Position(n.Pos()).Line, text})
		}
		return !whole && !isInternal(n)
	})
	return all, nil
}

// textOf returns the text of a literal, or of a sum with a literal in it; whole reports whether n
// is one of them.
func textOf(n ast.Node) (text string, whole bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		return text, n.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			return "", false
		}
		left, inLeft := textOf(n.X)
		right, inRight := textOf(n.Y)
		return filled(left, inLeft) + filled(right, inRight), inLeft || inRight
	case *ast.ParenExpr:
		return textOf(n.X)
	}
	return "", false
}

func filled(text string, known bool) string {
	if !known {
		return "%v"
	}
	return text
}

// isInternal reports whether the texts below n are not shown: imports, tags, patterns, texts that
// are compared with something, and panics.
func isInternal(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return true
	case *ast.Field:
		return n.Tag != nil
	case *ast.BinaryExpr:
		return n.Op == token.EQL || n.Op == token.NEQ
	case *ast.CallExpr:
		return internalCalls.MatchString(nameOf(n.Fun))
	}
	return false
}

var internalCalls = regexp.MustCompile(`^(panic|regexp\.MustCompile|time\.(Parse|Format)|\w+\.Format|` +
	`strings\.(Has|Cut|Contains|Index|Split|Fields|Trim|EqualFold)\w*)$`)

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return ""
}

var (
	twoWords = regexp.MustCompile(`[A-Za-z'’,;:)"]\s+(%[^ ]+\s+)?[a-zA-Z(]`)
	markup   = regexp.MustCompile(`[{}]\s*$|^\s*<|;\s*$|://\S+ \S+://`)
	small    = regexp.MustCompile(`\b[a-z]{2,}\b`)
)

// isForPeople reports whether a text has words: code in another language and lists of names have none.
func isForPeople(text string) bool {
	return twoWords.MatchString(text) && small.MatchString(text) && !markup.MatchString(text)
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A site is a place of the program where a fault can be put in by a rule, without a choice.
type site struct {
	file       string
	line       int
	kind       string // what is done there
	begin, end int    // the text that is replaced
	with       string
}

// siteFiles have sites: they decide whether two copies run, and what status a run has.
var siteFiles = []string{"internal/guard/*.go", "internal/runner/*.go", "internal/watchdog/*.go",
	"internal/session/*.go", "internal/lock/line/*.go", "internal/lock/line/*.lua", "internal/lock/quorum/*.go",
	"internal/lock/quorum/*.lua",
	"internal/lock/ledger/*.lua", "internal/lock/step/*.go", "internal/lock/step/*.lua"}

// sites returns all sites, in the order of files and lines. Each if, each statement that can be left out, each
// comparison, each "and" and "or" and each small number is one.
func sites() (all []site, err error) {
	for _, pattern := range siteFiles {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_other.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found := luaSites(file, string(text))
			if filepath.Ext(file) == ".go" {
				if found, err = goSites(file, text); err != nil {
					return nil, err
				}
			}
			slices.SortStableFunc(found, func(a, b site) int { return a.begin - b.begin })
			all = append(all, found...)
		}
	}
	return all, nil
}

// swapped are the operators that take each other's place.
var swapped = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.EQL: "!=", token.NEQ: "==", token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+"}

// goSites are the sites in the functions of a file.
func goSites(file string, text []byte) (found []site, err error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	add := func(kind string, from, to token.Pos, with string) {
		found = append(found, site{file, set.Position(from).Line, kind, at(from), at(to), with})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return false // constants and types are no statements
		case *ast.IfStmt:
			cond := string(text[at(n.Cond.Pos()):at(n.Cond.End())])
			add("negate", n.Cond.Pos(), n.Cond.End(), "!("+cond+")")
		case *ast.ExprStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.IncDecStmt:
			add("drop", n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add("drop", n.Pos(), n.End(), "")
			}
		case *ast.BinaryExpr:
			if other := swapped[n.Op]; other != "" {
				add("swap", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
			}
		case *ast.BasicLit:
			if number, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
				add("off by one", n.Pos(), n.End(), strconv.Itoa(number+1))
			}
		case *ast.Ident:
			if other, is := map[string]string{"true": "false", "false": "true"}[n.Name]; is {
				add("negate", n.Pos(), n.End(), other)
			}
		}
		return true
	})
	return found, nil
}

// A luaRule finds sites in a line of Lua: the first group of the pattern is replaced.
type luaRule struct {
	kind string
	find *regexp.Regexp
	with func(old string) string
}

func exactly(with string) func(string) string { return func(string) string { return with } }

var luaRules = []luaRule{
	{"negate", regexp.MustCompile(`\b(?:else)?if (.+?) then\b`),
		func(old string) string { return "not (" + old + ")" }},
	{"drop", regexp.MustCompile(`^\s*((?:redis\.)?[a-z_]+\(.*\))$`), exactly("")},
	{"drop", regexp.MustCompile(`^\s*([a-z_]+(?:\[[^]]*\])? = [^{]*[^{])$`), exactly("")},
	{"swap", regexp.MustCompile(` (and) `), exactly("or")},
	{"swap", regexp.MustCompile(` (or) `), exactly("and")},
	{"swap", regexp.MustCompile(` (==) `), exactly("~=")},
	{"swap", regexp.MustCompile(` (~=) `), exactly("==")},
	{"swap", regexp.MustCompile(` (<) `), exactly("<=")},
	{"swap", regexp.MustCompile(` (<=) `), exactly("<")},
	{"swap", regexp.MustCompile(` (>) `), exactly(">=")},
	{"swap", regexp.MustCompile(` (>=) `), exactly(">")},
}

// luaSites are the sites of a step. A comment has none.
func luaSites(file, text string) (found []site) {
	offset := 0
	for n, line := range strings.SplitAfter(text, "\n") {
		code, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "--")
		code = strings.TrimRight(code, " ")
		for _, rule := range luaRules {
			for _, m := range rule.find.FindAllStringSubmatchIndex(code, -1) {
				found = append(found, site{file, n + 1, rule.kind, offset + m[2], offset + m[3],
					rule.with(code[m[2]:m[3]])})
			}
		}
		offset += len(line)
	}
	return found
}

// kth are n of the sites, equally far apart, with the next after each in case a fault cannot be built there.
func kth(all []site, n int) (drawn [][]site) {
	step := len(all) / n
	for i := range n {
		drawn = append(drawn, all[i*step+step/2:i*step+step])
	}
	return drawn
}

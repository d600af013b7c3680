package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The rule for messages has no exceptions.
func TestTheSentencesOfMessagesArePlain(t *testing.T) {
	dirs, err := programDirs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all, err := find("../..", dirs)
	if err != nil || len(all) < 500 {
		t.Fatalf("%d messages were found: %v", len(all), err)
	}
	private := privateWords(t)
	for _, m := range all {
		for _, problem := range problems(m.text, private) {
			t.Errorf("%s:%d: %s: %q", m.file, m.line, problem, m.text)
		}
	}
}

const mostWords = 25

var (
	sentenceEnd  = regexp.MustCompile(`[.!?;:]\s|\n[A-Z]|\n\s*\n|\n {2}`)
	oddBeginning = regexp.MustCompile(`(?i)^\W*(who|whoever|what is|that)\b`)
)

// problems says what is wrong with the sentences of a text.
func problems(text string, private map[string]bool) (all []string) {
	for _, sentence := range sentenceEnd.Split(text, -1) {
		words := strings.Fields(sentence)
		if len(words) > mostWords {
			all = append(all, "a sentence has "+strconv.Itoa(len(words))+" words")
		}
		if oddBeginning.MatchString(sentence) {
			all = append(all, "a sentence begins with who, whoever, what is or that")
		}
		for _, word := range words {
			if word = strings.ToLower(strings.Trim(word, `.,;:()"'`)); private[word] {
				all = append(all, "private word "+word)
			}
		}
	}
	return all
}

// privateWords reads the table of words_test.go, and adds words that are for sentences.
func privateWords(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../words_test.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{"whoever": true, "nobody": true, "somebody": true, "everybody": true, "besides": true}
	ast.Inspect(file, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.BasicLit); ok {
				word, _ := strconv.Unquote(key.Value)
				words[word] = true
			}
		}
		return true
	})
	if !words["astray"] {
		t.Fatal("words_test.go has no table of private words")
	}
	return words
}

func TestProblemsOfASentenceAreFound(t *testing.T) {
	private := map[string]bool{"heed": true}
	for text, want := range map[string]int{
		"cannot run %s: not found": 0, "That is so": 1, "fine: who waits": 1, "it must heed this": 1,
		strings.Repeat("word ", 26): 1, strings.Repeat("word ", 25): 0,
	} {
		if got := problems(text, private); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestMessagesAreFoundInSources(t *testing.T) {
	const source = `package p
import "fmt"
type t struct { a int ` + "`json:\"a b c\"`" + ` }
func f(x string) { if x == "not a message" { panic("nor is this") }; fmt.Println("cannot run " + x + ": it fails") }`
	found, err := inSource("p.go", []byte(source))
	if err != nil || len(found) != 1 || found[0].text != "cannot run %v: it fails" || found[0].line != 4 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestAMessageIsShownByAScriptWithItsLongestPart(t *testing.T) {
	places := []place{{"a.txtar", plain(`stderr 'cannot run \(x\): it''s away'`)}, {"b.txtar", "other"}}
	if got := shownBy("cannot run (%v): it's away", places); len(got) != 1 || got[0] != "a.txtar" {
		t.Errorf("%q", got)
	}
	if got := shownBy("%v is unheard of", places); got != nil {
		t.Errorf("%q", got)
	}
}

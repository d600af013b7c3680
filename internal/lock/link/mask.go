package link

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mask puts *** in the place of each secret in a text, however a URL writes it,
// but not in the place of letters of a longer word: a password may be one letter.
func mask(text string, secrets ...string) string {
	var all []string
	for _, secret := range secrets {
		if secret != "" {
			all = append(all, secret, url.PathEscape(secret), url.QueryEscape(secret))
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be a part of another
	for _, secret := range all {
		text = maskOne(text, secret)
	}
	return text
}

func maskOne(text, secret string) string {
	var out strings.Builder
	done := 0
	for i := 0; i+len(secret) <= len(text); i++ {
		end := i + len(secret)
		if i < done || text[i:end] != secret || within(text, i) || within(text, end) {
			continue
		}
		out.WriteString(text[done:i] + "***")
		done = end
	}
	return out.String() + text[done:]
}

// within reports whether i is inside of a word.
func within(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	return inWord(before) && inWord(after)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

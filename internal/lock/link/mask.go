package link

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// mostMasked bounds the text that is looked at: far more than is shown of it.
	mostMasked = 4 << 10

	// leastGlued is from which length on a secret is hidden inside of words, too. A password
	// may be one letter, which is in every word.
	leastGlued = 6

	// leastPart is from which length on the beginning of a secret is hidden, too: servers cut
	// what they repeat.
	leastPart = 12
)

// mask puts *** in the place of each secret in a text: as it is, as a URL writes it, and
// escaped once or twice, as servers repeat what they were sent.
func mask(text string, secrets ...string) string {
	text = text[:min(len(text), mostMasked)]
	var all []string
	for _, secret := range secrets {
		if secret != "" {
			all = append(all, secret, url.PathEscape(secret), url.QueryEscape(secret))
		}
	}
	if len(all) == 0 {
		return text
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be a part of another
	hidden := make([]bool, len(text))
	once := plain(text)
	for _, r := range []rendering{once, once.without(backslashes), once.without(percents)} {
		for _, again := range []rendering{r, r.without(backslashes), r.without(percents)} {
			for _, secret := range all {
				again.hide(secret, hidden)
			}
		}
	}
	return starred(text, hidden)
}

// starred is a text with *** in the place of each part that is hidden.
func starred(text string, hidden []bool) string {
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			out.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString("***")
		}
	}
	return out.String()
}

// A rendering is a text without some escapes, and where in the original each byte of it begins.
type rendering struct {
	text string
	from []int // with the end of the original behind the last
}

func plain(text string) rendering {
	r := rendering{text, make([]int, len(text)+1)}
	for i := range r.from {
		r.from[i] = i
	}
	return r
}

// without undoes escapes. unescape returns the meaning of an escape at the beginning of a text,
// and its length; 0: there is none.
func (r rendering) without(unescape func(string) (string, int)) rendering {
	var out strings.Builder
	var from []int
	for i := 0; i < len(r.text); {
		stands, n := unescape(r.text[i:])
		if n == 0 {
			stands, n = r.text[i:i+1], 1
		}
		out.WriteString(stands)
		for range len(stands) {
			from = append(from, r.from[i])
		}
		i += n
	}
	return rendering{out.String(), append(from, r.from[len(r.text)])}
}

// backslashes are the escapes of Redis, Lua, JSON and C.
func backslashes(text string) (stands string, n int) {
	if len(text) < 2 || text[0] != '\\' {
		return "", 0
	}
	if at := strings.IndexByte("abfnrtv", text[1]); at >= 0 {
		return "\a\b\f\n\r\t\v"[at : at+1], 2
	}
	for _, form := range []struct {
		prefix       string
		digits, base int
	}{{`\x`, 2, 16}, {`\u`, 4, 16}, {`\`, 3, 8}, {`\`, 3, 10}} {
		end := len(form.prefix) + form.digits
		if !strings.HasPrefix(text, form.prefix) || end > len(text) {
			continue
		}
		code, err := strconv.ParseUint(text[len(form.prefix):end], form.base, 16)
		switch {
		case err != nil || form.digits < 4 && code > 0xff:
		case form.digits == 4:
			return string(rune(code)), end
		default:
			return string([]byte{byte(code)}), end
		}
	}
	return text[1:2], 2
}

// percents are the escapes of URLs and forms.
func percents(text string) (stands string, n int) {
	if text[0] == '+' {
		return " ", 1
	}
	if text[0] != '%' || len(text) < 3 {
		return "", 0
	}
	code, err := strconv.ParseUint(text[1:3], 16, 8)
	if err != nil {
		return "", 0
	}
	return string([]byte{byte(code)}), 3
}

// hide marks where in the original a secret is, or its beginning.
func (r rendering) hide(secret string, hidden []bool) {
	sign := secret[:min(len(secret), leastPart)]
	for i := 0; ; i++ {
		at := strings.Index(r.text[i:], sign)
		if at < 0 {
			return
		}
		i += at
		end := i + len(sign)
		for end < len(r.text) && end-i < len(secret) && r.text[end] == secret[end-i] {
			end++
		}
		if len(secret) < leastGlued && (within(r.text, i) || within(r.text, end)) {
			continue
		}
		for k := r.from[i]; k < r.from[end]; k++ {
			hidden[k] = true
		}
	}
}

// within reports whether i is inside of a word.
func within(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	return inWord(before) && inWord(after)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Package markup writes a page of HTML, and is the only way into the page. It escapes every text,
// wherever it comes from. Its pages run only the script that the policy names by its hash, and refer
// to nothing outside the page.
package markup

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Page is a page in the making. The zero value is a page without elements.
type Page struct {
	text []byte
	open []string // the open elements, outermost first
}

// New returns a page with room for so many bytes. It grows if it needs more.
func New(room int) *Page {
	return &Page{text: append(make([]byte, 0, room), "<!DOCTYPE html>\n"...)}
}

// Open begins an element with its attributes: names and values in turn. Names are in small letters;
// other characters are dropped. So are attributes that could run a script or load something.
func (p *Page) Open(element string, attributes ...string) {
	p.begin(element, attributes)
	p.open = append(p.open, element)
}

// Close ends the element that was opened last.
func (p *Page) Close() {
	last := len(p.open) - 1
	if last < 0 {
		return
	}
	p.text = append(p.text, "</"...)
	p.name(p.open[last])
	p.text = append(p.text, '>')
	p.open = p.open[:last]
}

// Void writes an element without content and end tag: meta, link, col, br, input.
func (p *Page) Void(element string, attributes ...string) { p.begin(element, attributes) }

// Text adds text.
func (p *Page) Text(text string) { p.escape(text) }

// Element writes an element that contains only a text.
func (p *Page) Element(element, text string, attributes ...string) {
	p.Open(element, attributes...)
	p.escape(text)
	p.Close()
}

// Line ends a line of the source. It adds nothing visible.
func (p *Page) Line() { p.text = append(p.text, '\n') }

// Style writes a style sheet. No sheet can end the element or name an address.
func (p *Page) Style(sheet string) {
	p.Open("style")
	p.text = append(p.text, strings.NewReplacer("<", `\3c `, "@import", "", "url(", "").Replace(sheet)...)
	p.Close()
}

// Policy forbids the browser to run any other script than this one, and to load anything except
// the page's own style sheet and empty icon.
func (p *Page) Policy(script string) {
	hash := sha256.Sum256([]byte(script))
	p.equivalent("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"+
		base64.StdEncoding.EncodeToString(hash[:])+"'; img-src data:; base-uri 'none'; form-action 'none'")
}

// Script writes a script. One with a < could end the element, and is not written.
func (p *Page) Script(script string) {
	if strings.Contains(script, "<") {
		return
	}
	p.Open("script")
	p.text = append(p.text, script...)
	p.Close()
}

// Refresh makes the browser reload the page after so many seconds.
func (p *Page) Refresh(seconds int) { p.equivalent("refresh", strconv.Itoa(seconds)) }

// equivalent writes what a server could send as an HTTP header.
func (p *Page) equivalent(header, value string) {
	p.text = append(append(append(p.text, `<meta http-equiv="`...), header...), `" content="`...)
	p.escape(value)
	p.text = append(p.text, `">`...)
}

// Bytes closes all open elements and returns the page.
func (p *Page) Bytes() []byte {
	for len(p.open) > 0 {
		p.Close()
	}
	return p.text
}

func (p *Page) begin(element string, attributes []string) {
	p.text = append(p.text, '<')
	p.name(element)
	for i := 0; i+1 < len(attributes); i += 2 {
		if allowed(attributes[i], attributes[i+1]) {
			p.text = append(p.text, ' ')
			p.name(attributes[i])
			p.value(attributes[i+1])
		}
	}
	p.text = append(p.text, '>')
}

// allowed reports whether an attribute can neither load nor run anything.
func allowed(name, value string) bool {
	switch name {
	case "href":
		return strings.HasPrefix(value, "#") || value == Nothing
	case "style":
		return bare(value) || isProperty(value)
	case "class", "id", "title", "lang", "name", "content", "charset", "rel", "tabindex", "open", "scope",
		"datetime", "colspan", "role", "hidden", "type", "value", "d", "viewbox", "preserveaspectratio", "data-hosts":
		return true
	}
	return strings.HasPrefix(name, "aria-")
}

// Property returns a style that passes a text to the sheet as var(--name). Any text stays one
// string.
func Property(name, text string) string {
	var b strings.Builder
	b.WriteString("--" + name + `:"`)
	for _, r := range text {
		if r == ' ' || r < utf8.RuneSelf && bare(string(r)) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\%x `, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isProperty reports whether Property could have made a style.
func isProperty(style string) bool {
	name, text, ok := strings.Cut(strings.TrimPrefix(style, "--"), `:"`)
	text, ends := strings.CutSuffix(text, `"`)
	for i := range len(text) {
		c := text[i]
		escapes := c == '\\' && i+1 < len(text) && strings.IndexByte("0123456789abcdef", text[i+1]) >= 0
		if c != ' ' && !escapes && !bare(string(rune(c))) {
			return false
		}
	}
	return ok && ends && bare(name) && len(name)+len(text)+len(`--:""`) == len(style)
}

// Nothing is the address of an empty resource, which the browser need not load.
const Nothing = "data:,"

func (p *Page) name(name string) {
	for i := range len(name) {
		if c := name[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			p.text = append(p.text, c)
		}
	}
}

// value writes the value of an attribute: nothing if it is empty, with quotes only where needed.
func (p *Page) value(value string) {
	switch {
	case value == "":
	case bare(value):
		p.text = append(append(p.text, '='), value...)
	default:
		p.text = append(p.text, `="`...)
		p.escape(value)
		p.text = append(p.text, '"')
	}
}

func bare(value string) bool {
	for i := range len(value) {
		switch c := value[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '.', c == ':', c == ';', c == '%', c == '#', c == '_', c == ',':
		default:
			return false
		}
	}
	return true
}

// escape adds text. Characters that no page may contain become U+FFFD.
func (p *Page) escape(text string) {
	from := 0
	for i := 0; i < len(text); {
		with, size := instead(text[i:])
		if with != "" {
			p.text = append(append(p.text, text[from:i]...), with...)
			from = i + size
		}
		i += size
	}
	p.text = append(p.text, text[from:]...)
}

// instead returns the replacement of the first character of a text; "" to keep the character.
func instead(text string) (with string, size int) {
	switch c := text[0]; {
	case c == '<':
		return "&lt;", 1
	case c == '>':
		return "&gt;", 1
	case c == '&':
		return "&amp;", 1
	case c == '"':
		return "&quot;", 1
	case c == '\'':
		return "&#39;", 1
	case c < ' ', c == 0x7f:
		return "\ufffd", 1
	case c < utf8.RuneSelf:
		return "", 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 || r < 0xa0 || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe || embeds(r) {
		return "\ufffd", size
	}
	return "", size
}

// embeds reports whether a character changes the direction of the text after it.
func embeds(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

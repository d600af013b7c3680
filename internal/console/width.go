package console

import (
	"strings"
	"unicode"
)

// Cut shortens a text to so many columns of a terminal.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	room := width - 1
	for i, r := range text {
		if room -= runeWidth(r); room < 0 {
			return text[:i] + "…"
		}
	}
	return text
}

// Fold splits a text into parts of at most so many columns, at blanks; less than 1: no limit. An
// empty text has no parts.
func Fold(text string, width int) (parts []string) {
	for width > 0 && Width(text) > width {
		end := fitting(text, width)
		if blank := strings.LastIndexByte(text[:end], ' '); blank > 0 {
			end = blank
		}
		parts = append(parts, text[:end])
		text = strings.TrimPrefix(text[end:], " ")
	}
	if text != "" {
		parts = append(parts, text)
	}
	return parts
}

// fitting returns how many bytes of a text fit, at least those of one character.
func fitting(text string, room int) int {
	for i, r := range text {
		if room -= runeWidth(r); room < 0 && i > 0 {
			return i
		}
	}
	return len(text)
}

// Width returns how many columns of a terminal a text takes.
func Width(text string) (n int) {
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide holds the characters that take two columns (Unicode's East Asian Width), roughly.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

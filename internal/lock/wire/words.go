package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// Scripts take a line of words apart: one blank between two, and in each word
// only what is printed, without %, / and =; %XX is a byte. "-" is a word that is empty.

// Word is a text as one word of what is written into a store.
func Word(text string) string {
	if text == "" {
		return "-"
	}
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == 0x7f || c == '%' || c == '/' || c == '=' || text == "-" {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unword returns the text of a word, which any client may have written.
func unword(w string) string {
	if w == "-" {
		return ""
	}
	if !strings.Contains(w, "%") {
		return w
	}
	var b strings.Builder
	for i := 0; i < len(w); i++ {
		if w[i] == '%' && i+2 < len(w) {
			if c, err := strconv.ParseUint(w[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(w[i])
	}
	return b.String()
}

// number is a word that is a number; what is none is less than 0.
func number(w string) int64 {
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

package server

import (
	"slices"
	"strconv"
	"strings"
)

var keyCommands = map[string]command{
	"del":    {-2, writes, del},
	"unlink": {-2, writes, del},
	"exists": {-2, 0, exists},
	"type": {2, 0, func(s *Server, _ *Conn, words []string) reply {
		return reply{kind: status, text: s.kind(words[1])}
	}},
	"pttl":    {2, 0, func(s *Server, _ *Conn, words []string) reply { return s.left(words[1], 1) }},
	"ttl":     {2, 0, func(s *Server, _ *Conn, words []string) reply { return s.left(words[1], 1000) }},
	"pexpire": {-3, writes, func(s *Server, _ *Conn, words []string) reply { return s.expire(words, s.millis(), 1) }},
	"expire": {-3, writes, func(s *Server, _ *Conn, words []string) reply {
		return s.expire(words, s.millis(), 1000)
	}},
	"pexpireat": {-3, writes, func(s *Server, _ *Conn, words []string) reply { return s.expire(words, 0, 1) }},
	"persist":   {2, writes, persist},
	"keys":      {2, 0, func(s *Server, _ *Conn, words []string) reply { return texts(s.matching(words[1])) }},
	"scan":      {-2, 0, scan},
	"dbsize":    {1, 0, func(s *Server, _ *Conn, _ []string) reply { return number(len(s.present())) }},
	"flushall":  {-1, writes, flush},
	"flushdb":   {-1, writes, flush},
}

func flush(s *Server, _ *Conn, _ []string) reply {
	clear(s.keys)
	return ok
}

func del(s *Server, _ *Conn, words []string) reply {
	n := 0
	for _, key := range words[1:] {
		if s.find(key) != nil {
			delete(s.keys, key)
			n++
		}
	}
	return number(n)
}

func exists(s *Server, _ *Conn, words []string) reply {
	n := 0
	for _, key := range words[1:] {
		if s.find(key) != nil {
			n++
		}
	}
	return number(n)
}

// kind is the type of a key.
func (s *Server) kind(key string) string {
	e := s.find(key)
	if e == nil {
		return "none"
	}
	switch e.value.(type) {
	case *hash:
		return "hash"
	case *list:
		return "list"
	case *zset:
		return "zset"
	}
	return "string"
}

// left is how long a key still lives, in units of so many ms.
func (s *Server) left(key string, unit int64) reply {
	e := s.find(key)
	switch {
	case e == nil:
		return number(-2)
	case e.ends == 0:
		return number(-1)
	}
	return number(int((e.ends - s.millis() + unit/2) / unit))
}

// expire has a key end at a time of so many units, counted from a time in ms.
func (s *Server) expire(words []string, from, unit int64) reply {
	if len(words) > 3 {
		return fault("ERR Unsupported option %s", words[3])
	}
	n, valid := whole(words[2])
	switch name := strings.ToLower(words[0]); {
	case !valid:
		return errNumber
	case n > (1<<63-1-from)/unit || n < (-1<<63)/unit:
		return fault("ERR invalid expire time in '%s' command", name)
	}
	e := s.find(words[1])
	if e == nil {
		return number(0)
	}
	if e.ends = from + n*unit; e.ends <= s.millis() {
		delete(s.keys, words[1])
	}
	return number(1)
}

func persist(s *Server, _ *Conn, words []string) reply {
	e := s.find(words[1])
	if e == nil || e.ends == 0 {
		return number(0)
	}
	e.ends = 0
	return number(1)
}

// matching are the keys of a pattern.
func (s *Server) matching(pattern string) []string {
	return slices.DeleteFunc(s.present(), func(key string) bool { return !glob(pattern, key) })
}

// scanned reads MATCH and COUNT behind a cursor: everything is in the first piece.
func scanned(cursor string, options []string, all func(pattern string) []string) reply {
	at, valid := cursorOf(cursor)
	if !valid {
		return errCursor
	}
	pattern := "*"
	for ; len(options) > 0; options = options[2:] {
		switch strings.ToLower(options[0]) {
		case "match":
			if len(options) < 2 {
				return errSyntax
			}
			pattern = options[1]
		case "count":
			if len(options) < 2 {
				return errSyntax
			}
			n, valid := whole(options[1])
			if !valid {
				return errNumber
			}
			if n < 1 {
				return errSyntax
			}
		default:
			return errSyntax
		}
	}
	piece := texts(nil)
	if at == 0 {
		piece = texts(all(pattern))
	}
	return several([]reply{text("0"), piece})
}

var errCursor = fault("ERR invalid cursor")

// cursorOf reads a cursor as strtoul does.
func cursorOf(word string) (n uint64, valid bool) {
	word, _, _ = strings.Cut(word, "\x00")
	digits, negative := strings.CutPrefix(word, "-")
	if digits == "" {
		return 0, !negative
	}
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

func scan(s *Server, _ *Conn, words []string) reply { return scanned(words[1], words[2:], s.matching) }

// glob reports whether a text is as a pattern says: ?, *, [a-z], [^a] and \ mean what they do in Redis.
func glob(pattern, text string) bool {
	for pattern != "" {
		switch pattern[0] {
		case '*':
			for i := 0; i <= len(text); i++ {
				if glob(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		case '[':
			var in bool
			if text == "" {
				return false
			}
			in, pattern = class(pattern[1:], text[0])
			if !in {
				return false
			}
			text = text[1:]
			continue
		case '\\':
			if len(pattern) > 1 {
				pattern = pattern[1:]
			}
			fallthrough
		default:
			if text == "" || pattern[0] != text[0] {
				return false
			}
		case '?':
			if text == "" {
				return false
			}
		}
		pattern, text = pattern[1:], text[1:]
	}
	return text == ""
}

// class reports whether b is in the class at the pattern's start, and what is behind it.
func class(pattern string, b byte) (in bool, rest string) {
	not := strings.HasPrefix(pattern, "^")
	pattern = strings.TrimPrefix(pattern, "^")
	for pattern != "" && pattern[0] != ']' {
		switch {
		case pattern[0] == '\\' && len(pattern) > 1:
			in = in || pattern[1] == b
			pattern = pattern[2:]
		case len(pattern) > 2 && pattern[1] == '-':
			in = in || min(pattern[0], pattern[2]) <= b && b <= max(pattern[0], pattern[2])
			pattern = pattern[3:]
		default:
			in = in || pattern[0] == b
			pattern = pattern[1:]
		}
	}
	return in != not, strings.TrimPrefix(pattern, "]")
}

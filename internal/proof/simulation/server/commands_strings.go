package server

import (
	"strconv"
	"strings"
)

var stringCommands = map[string]command{
	"get":      {2, 0, get},
	"set":      {-3, writes | grows, set},
	"getrange": {4, 0, getRange},
	"strlen": {2, 0, func(s *Server, _ *Conn, words []string) reply {
		value, valid := look[string](s, words[1])
		if !valid {
			return errType
		}
		return number(len(value))
	}},
	"incr":   {2, writes | grows, func(s *Server, _ *Conn, words []string) reply { return s.increase(words[1], 1) }},
	"incrby": {3, writes | grows, increaseBy},
}

func get(s *Server, _ *Conn, words []string) reply {
	e := s.find(words[1])
	if e == nil {
		return missing()
	}
	value, valid := e.value.(string)
	if !valid {
		return errType
	}
	return text(value)
}

// settings are the options of SET.
type settings struct {
	ends         int64 // 0: never
	keep, get    bool
	only, unless bool // if it is there; if it is not
}

func set(s *Server, _ *Conn, words []string) reply {
	opts, refused := s.settings(words[3:])
	if refused.kind != nothing {
		return refused
	}
	e, before := s.find(words[1]), ok
	if opts.get {
		if before = get(s, nil, words); before.kind == failure {
			return before
		}
	}
	if opts.unless && e != nil || opts.only && e == nil {
		if opts.get {
			return before
		}
		return missing()
	}
	if opts.keep && e != nil {
		opts.ends = e.ends
	}
	s.keys[words[1]] = &entry{words[2], opts.ends}
	return before
}

func (s *Server) settings(words []string) (o settings, refused reply) {
	var limit, span string
	for i := 0; i < len(words); i++ {
		name := strings.ToLower(words[i])
		switch name {
		case "nx":
			o.unless = true
		case "xx":
			o.only = true
		case "get":
			o.get = true
		case "keepttl", "ex", "px", "exat", "pxat":
			if limit != "" && limit != name {
				return o, errSyntax
			}
			if limit = name; name == "keepttl" {
				o.keep = true
			} else if i++; i == len(words) {
				return o, errSyntax
			} else {
				span = words[i]
			}
		default:
			return o, errSyntax
		}
	}
	switch {
	case o.only && o.unless:
		return o, errSyntax
	case limit != "" && !o.keep:
		o.ends, refused = s.end(limit, span)
	}
	return o, refused
}

// end is when a key ends that is set with such an option.
func (s *Server) end(option, word string) (ends int64, refused reply) {
	n, valid := whole(word)
	if !valid {
		return 0, errNumber
	}
	unit, from := int64(1), s.millis()
	if strings.HasPrefix(option, "ex") {
		unit = 1000
	}
	if strings.HasSuffix(option, "at") {
		from = 0
	}
	if n <= 0 || n > (1<<63-1-from)/unit {
		return 0, fault("ERR invalid expire time in 'set' command")
	}
	return from + n*unit, refused
}

func getRange(s *Server, _ *Conn, words []string) reply {
	first, valid := whole(words[2])
	last, alsoValid := whole(words[3])
	if !valid || !alsoValid {
		return errNumber
	}
	value, valid := look[string](s, words[1])
	if !valid {
		return errType
	}
	size := int64(len(value))
	if first < 0 && last < 0 && first > last {
		return text("")
	}
	if last < 0 {
		last = max(last+size, 0) // of a list it would be nothing
	}
	from, to := bounds(first, last, len(value))
	return text(value[from:to])
}

// bounds are what first and last mean of so many: less than 0 counts from the end, and last is a part.
func bounds(first, last int64, n int) (from, to int) {
	size := int64(n)
	if first < 0 {
		first = max(first+size, 0)
	}
	if last < 0 {
		last += size
	}
	last = min(last, size-1)
	if first > last {
		return 0, 0
	}
	return int(first), int(last) + 1
}

func increaseBy(s *Server, _ *Conn, words []string) reply {
	by, valid := whole(words[2])
	if !valid {
		return errNumber
	}
	return s.increase(words[1], by)
}

func (s *Server) increase(key string, by int64) reply {
	e := s.find(key)
	if e == nil {
		e = &entry{value: "0"}
	}
	value, valid := e.value.(string)
	if !valid {
		return errType
	}
	n, refused := increased(value, by)
	if refused.kind == nothing {
		e.value = strconv.FormatInt(n, 10)
		s.keys[key] = e
		return number(int(n))
	}
	return refused
}

// increased is a number that is written in a value, and by more.
func increased(value string, by int64) (n int64, refused reply) {
	n, valid := whole(value)
	switch {
	case !valid:
		return 0, errNumber
	case by > 0 && n > 1<<63-1-by || by < 0 && n < -1<<63-by:
		return 0, fault("ERR increment or decrement would overflow")
	}
	return n + by, refused
}

package server

import "slices"

// A list is the items of a key.
type list struct{ items []string }

func (l *list) size() int { return len(l.items) }

// all are the items, of a list that is not there too.
func (l *list) all() []string {
	if l == nil {
		return nil
	}
	return l.items
}

var listCommands = map[string]command{
	"lpush": {-3, writes | grows, push},
	"rpush": {-3, writes | grows, push},
	"ltrim": {4, writes, ltrim},
	"llen":  {2, 0, reading(func(l *list, _ []string) reply { return number(len(l.all())) })},
	"lrange": {4, 0, func(s *Server, c *Conn, words []string) reply {
		first, last, valid := span(words[2], words[3])
		if !valid {
			return errNumber
		}
		return reading(func(l *list, _ []string) reply {
			from, to := bounds(first, last, len(l.all()))
			return texts(l.all()[from:to])
		})(s, c, words)
	}},
	"lindex": {3, 0, reading(func(l *list, words []string) reply {
		n, valid := whole(words[2])
		if l == nil {
			return missing()
		}
		if !valid {
			return errNumber
		}
		if n < 0 {
			n += int64(len(l.items))
		}
		if n < 0 || n >= int64(len(l.items)) {
			return missing()
		}
		return text(l.items[n])
	})},
}

// span reads two numbers.
func span(first, last string) (from, to int64, valid bool) {
	from, valid = whole(first)
	to, alsoValid := whole(last)
	return from, to, valid && alsoValid
}

func push(s *Server, _ *Conn, words []string) reply {
	l, valid := own[list](s, words[1])
	if !valid {
		return errType
	}
	if items := words[2:]; words[0][0]|0x20 == 'l' {
		items = slices.Clone(items)
		slices.Reverse(items)
		l.items = append(items, l.items...)
	} else {
		l.items = append(l.items, items...)
	}
	return number(len(l.items))
}

func ltrim(s *Server, _ *Conn, words []string) reply {
	first, last, valid := span(words[2], words[3])
	if !valid {
		return errNumber
	}
	l, valid := look[*list](s, words[1])
	if !valid {
		return errType
	}
	if l != nil {
		from, to := bounds(first, last, len(l.items))
		l.items = l.items[from:to:to]
		s.tidy(words[1], l)
	}
	return ok
}

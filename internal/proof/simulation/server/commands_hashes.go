package server

import (
	"maps"
	"slices"
	"strconv"
)

// A hash is the fields of a key.
type hash struct{ fields map[string]string }

func (h *hash) size() int { return len(h.fields) }

func (h *hash) set(field, value string) (added bool) {
	if h.fields == nil {
		h.fields = map[string]string{}
	}
	_, known := h.fields[field]
	h.fields[field] = value
	return !known
}

// get is a field, of a hash that is not there too.
func (h *hash) get(field string) reply {
	if h == nil {
		return missing()
	}
	value, known := h.fields[field]
	if !known {
		return missing()
	}
	return text(value)
}

// names are the fields. Redis has them in no order.
func (h *hash) names() []string {
	if h == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(h.fields))
}

var hashCommands = map[string]command{
	"hset":    {-4, writes | grows, hset},
	"hdel":    {-3, writes, hdel},
	"hincrby": {4, writes | grows, hincrby},
	"hget":    {3, 0, reading(func(h *hash, words []string) reply { return h.get(words[2]) })},
	"hexists": {3, 0, reading(func(h *hash, words []string) reply { return count(h.get(words[2]).kind == bulk) })},
	"hlen":    {2, 0, reading(func(h *hash, _ []string) reply { return number(len(h.names())) })},
	"hkeys":   {2, 0, reading(func(h *hash, _ []string) reply { return texts(h.names()) })},
	"hmget": {-3, 0, reading(func(h *hash, words []string) reply {
		out := make([]reply, 0, len(words)-2)
		for _, field := range words[2:] {
			out = append(out, h.get(field))
		}
		return several(out)
	})},
	"hgetall": {2, 0, reading(func(h *hash, _ []string) reply {
		var out []reply
		for _, field := range h.names() {
			out = append(out, text(field), h.get(field))
		}
		return several(out)
	})},
}

// reading is a command that looks at the value of a key, which is nil if there is none.
func reading[T any](run func(value *T, words []string) reply) func(*Server, *Conn, []string) reply {
	return func(s *Server, _ *Conn, words []string) reply {
		value, valid := look[*T](s, words[1])
		if !valid {
			return errType
		}
		return run(value, words)
	}
}

func hset(s *Server, _ *Conn, words []string) reply {
	if len(words)%2 != 0 {
		return fault("ERR wrong number of arguments for 'hset' command")
	}
	h, valid := own[hash](s, words[1])
	if !valid {
		return errType
	}
	n := 0
	for pair := range slices.Chunk(words[2:], 2) {
		if h.set(pair[0], pair[1]) {
			n++
		}
	}
	return number(n)
}

func hdel(s *Server, _ *Conn, words []string) reply {
	h, valid := look[*hash](s, words[1])
	if !valid {
		return errType
	}
	if h == nil {
		return number(0)
	}
	before := h.size()
	for _, field := range words[2:] {
		delete(h.fields, field)
	}
	s.tidy(words[1], h)
	return number(before - h.size())
}

func hincrby(s *Server, _ *Conn, words []string) reply {
	by, valid := whole(words[3])
	if !valid {
		return errNumber
	}
	h, valid := look[*hash](s, words[1])
	if !valid {
		return errType
	}
	n, refused := by, reply{}
	if value := h.get(words[2]); value.kind == bulk {
		if n, refused = increased(value.text, by); refused.kind != nothing {
			return refusedHash(refused, value.text)
		}
	}
	h, _ = own[hash](s, words[1])
	h.set(words[2], strconv.FormatInt(n, 10))
	return number(int(n))
}

// refusedHash is what Redis says of a field that is no number.
func refusedHash(refused reply, value string) reply {
	if _, valid := whole(value); !valid {
		return fault("ERR hash value is not an integer")
	}
	return refused
}

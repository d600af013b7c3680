package server

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A member is one of a zset.
type member struct {
	score float64
	name  string
}

func (m member) compare(n member) int {
	return cmp.Or(cmp.Compare(m.score, n.score), strings.Compare(m.name, n.name))
}

// A zset has its members by their scores, then by their names.
type zset struct {
	scores  map[string]float64
	members []member
}

func (z *zset) size() int { return len(z.members) }

// all are the members, of a zset that is not there too.
func (z *zset) all() []member {
	if z == nil {
		return nil
	}
	return z.members
}

func (z *zset) remove(name string) bool {
	score, known := z.scores[name]
	if known {
		i := z.rank(member{score, name})
		z.members = slices.Delete(z.members, i, i+1)
		delete(z.scores, name)
	}
	return known
}

func (z *zset) put(m member) {
	if z.scores == nil {
		z.scores = map[string]float64{}
	}
	z.remove(m.name)
	z.scores[m.name] = m.score
	z.members = slices.Insert(z.members, z.rank(m), m)
}

// rank is where a member stands, or would.
func (z *zset) rank(m member) int {
	i, _ := slices.BinarySearchFunc(z.members, m, member.compare)
	return i
}

var zsetCommands = map[string]command{
	"zadd": {-4, writes | grows, zadd},
	"zrem": {-3, writes, zrem},
	"zcard": {2, 0, reading(func(z *zset, _ []string) reply {
		return number(len(z.all()))
	})},
	"zscore": {3, 0, reading(func(z *zset, words []string) reply {
		if z == nil {
			return missing()
		}
		score, known := z.scores[words[2]]
		if !known {
			return missing()
		}
		return text(numeral(score))
	})},
	"zrank": {3, 0, reading(func(z *zset, words []string) reply {
		if z == nil {
			return missing()
		}
		score, known := z.scores[words[2]]
		if !known {
			return missing()
		}
		return number(z.rank(member{score, words[2]}))
	})},
	"zrange":           {-4, 0, zrange},
	"zremrangebyscore": {4, writes, zremrangebyscore},
	"zscan":            {-3, 0, zscan},
}

// float reads a number as Redis reads scores.
func float(word string) (f float64, valid bool) {
	if word == "" || strings.ContainsAny(word, " _") {
		return 0, false
	}
	f, err := strconv.ParseFloat(word, 64)
	return f, err == nil && !math.IsNaN(f)
}

// adding are the options of ZADD.
type adding struct{ unless, only, changed bool }

func addingOf(words []string) (o adding, rest []string) {
	for i, word := range words {
		switch strings.ToLower(word) {
		case "nx":
			o.unless = true
		case "xx":
			o.only = true
		case "ch":
			o.changed = true
		default:
			return o, words[i:]
		}
	}
	return o, nil
}

func zadd(s *Server, _ *Conn, words []string) reply {
	o, pairs := addingOf(words[2:])
	switch {
	case len(pairs) == 0 || len(pairs)%2 != 0:
		return errSyntax
	case o.unless && o.only:
		return fault("ERR XX and NX options at the same time are not compatible")
	}
	var all []member
	for pair := range slices.Chunk(pairs, 2) {
		score, valid := float(pair[0])
		if !valid {
			return errFloat
		}
		all = append(all, member{score, pair[1]})
	}
	z, valid := look[*zset](s, words[1])
	switch {
	case !valid:
		return errType
	case z == nil && o.only:
		return number(0)
	}
	z, _ = own[zset](s, words[1])
	return number(z.add(o, all))
}

// add adds members, and returns how many are new, or new and changed.
func (z *zset) add(o adding, all []member) (n int) {
	for _, m := range all {
		score, known := z.scores[m.name]
		if known && o.unless || !known && o.only {
			continue
		}
		if !known || o.changed && score != m.score {
			n++
		}
		z.put(m)
	}
	return n
}

func zrem(s *Server, _ *Conn, words []string) reply {
	z, valid := look[*zset](s, words[1])
	if !valid {
		return errType
	}
	if z == nil {
		return number(0)
	}
	n := 0
	for _, name := range words[2:] {
		if z.remove(name) {
			n++
		}
	}
	s.tidy(words[1], z)
	return number(n)
}

func zrange(s *Server, c *Conn, words []string) reply {
	scores := false
	for _, word := range words[4:] {
		if strings.ToLower(word) != "withscores" {
			return errSyntax
		}
		scores = true
	}
	first, last, valid := span(words[2], words[3])
	if !valid {
		return errNumber
	}
	return reading(func(z *zset, _ []string) reply {
		from, to := bounds(first, last, len(z.all()))
		return listed(z.all()[from:to], scores)
	})(s, c, words)
}

func listed(members []member, scores bool) reply {
	out := make([]reply, 0, 2*len(members))
	for _, m := range members {
		out = append(out, text(m.name))
		if scores {
			out = append(out, text(numeral(m.score)))
		}
	}
	return several(out)
}

// limit reads an end of a range of scores; beyond reports that the end itself is out of it.
func limit(word string) (f float64, beyond, valid bool) {
	if word, beyond = strings.CutPrefix(word, "("); word == "" {
		return 0, beyond, true // as strtod has it
	}
	f, valid = float(word)
	return f, beyond, valid
}

func zremrangebyscore(s *Server, _ *Conn, words []string) reply {
	low, above, valid := limit(words[2])
	high, below, alsoValid := limit(words[3])
	if !valid || !alsoValid {
		return fault("ERR min or max is not a float")
	}
	z, valid := look[*zset](s, words[1])
	if !valid {
		return errType
	}
	n := 0
	for _, m := range slices.Clone(z.all()) {
		if (m.score > low || m.score == low && !above) && (m.score < high || m.score == high && !below) {
			z.remove(m.name)
			n++
		}
	}
	if z != nil {
		s.tidy(words[1], z)
	}
	return number(n)
}

// zscan shows all, whatever the cursor: so does Redis, of a small one.
func zscan(s *Server, c *Conn, words []string) reply {
	if _, valid := cursorOf(words[2]); !valid {
		return errCursor
	}
	return reading(func(z *zset, _ []string) reply {
		return scanned("0", words[3:], func(pattern string) (out []string) {
			for _, m := range z.all() {
				if glob(pattern, m.name) {
					out = append(out, m.name, numeral(m.score))
				}
			}
			return out
		})
	})(s, c, words)
}

package server

import (
	"maps"
	"slices"
)

// An entry is a key's value: a string, a *hash, a *list or a *zset. No key has an empty one of the last three.
type entry struct {
	value any
	ends  int64 // ms; 0: never
}

// find is the entry of a key that has not expired.
func (s *Server) find(key string) *entry {
	e := s.keys[key]
	if e != nil && e.ends != 0 && s.millis() > e.ends {
		delete(s.keys, key)
		return nil
	}
	return e
}

// present are the keys that have not expired.
func (s *Server) present() []string {
	all := slices.Sorted(maps.Keys(s.keys))
	return slices.DeleteFunc(all, func(key string) bool { return s.find(key) == nil })
}

var errType = reply{kind: failure, text: "WRONGTYPE Operation against a key holding the wrong kind of value"}

// look is the value of a key; ok is false if it is something else. The zero value is that of a key that is not there.
func look[T any](s *Server, key string) (value T, ok bool) {
	e := s.find(key)
	if e == nil {
		return value, true
	}
	value, ok = e.value.(T)
	return value, ok
}

// own is the value of a key, made if there is none; ok is false if it is something else.
func own[T any](s *Server, key string) (value *T, ok bool) {
	if value, ok = look[*T](s, key); ok && value == nil {
		value = new(T)
		s.keys[key] = &entry{value: value}
	}
	return value, ok
}

// A sized value is gone when it is empty.
type sized interface{ size() int }

// tidy removes a key whose value has become empty.
func (s *Server) tidy(key string, value sized) {
	if value.size() == 0 {
		delete(s.keys, key)
	}
}

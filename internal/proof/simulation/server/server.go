// Package server is a model of one Redis, for worlds in which time is made: it has no goroutine, no
// clock, no socket and no chance of its own. The same bytes at the same times have the same answers.
// Its steps are the scripts that clients send, run by a Lua interpreter; what that does otherwise than Lua is mended in
// exact.go and lua_assign.go. The tests compare each answer with that of a real Redis: a few always the same requests,
// or with MODEL_STEPS=100000 so many that were drawn.
//
// What it leaves out: databases but the first; transactions, blocking commands, streams, sets, users (a right is
// everybody's or nobody's: see [Server.Deny]), RESP3, inline commands; replicas (WAIT answers 0 at once), a Cluster,
// Sentinel; what memory is used for (see [Server.Fill]); a file on disk: what a restart keeps is everything or nothing.
// SCAN and ZSCAN answer in one piece, keys and fields are in the order in which they came, where Redis has none. Of
// Lua's libraries there is what Redis has in math (but for chance), string and table; cjson can decode.
// A number of 15 digits or more that a script makes a text by .. is not shortened.
package server

import (
	"fmt"
	"strconv"
	"time"
)

// A Server is one Redis. Not for several goroutines at once, nor are its connections.
type Server struct {
	clock func() time.Time
	began time.Time // when it was started, by its clock
	runs  int       // how often it was started
	now   time.Time // of the command that is executed: a script's time stands still

	keys     map[string]*entry
	conns    []*Conn // in the order in which they came
	ids      int     // of connections
	channels map[string][]*Conn
	full     bool
	wrote    bool // the script that runs has called a command that writes
	denied   map[string]bool
	refusals int

	lua *interpreter
}

// New starts a server whose clock is this one.
func New(clock func() time.Time) *Server {
	s := &Server{clock: clock, keys: map[string]*entry{}}
	s.lua = newInterpreter(s)
	s.Restart(false)
	return s
}

// Restart ends all connections and starts the server again, with the data or without.
func (s *Server) Restart(keepData bool) {
	for len(s.conns) > 0 {
		s.conns[0].Close()
	}
	if !keepData {
		clear(s.keys)
	}
	s.began, s.channels = s.clock(), map[string][]*Conn{}
	s.runs++
}

// Fill has the server run out of memory, or have enough again.
func (s *Server) Fill(full bool) { s.full = full }

// Get is the string that a key holds.
func (s *Server) Get(key string) (value string, ok bool) {
	s.now = s.clock()
	e := s.find(key)
	if e == nil {
		return "", false
	}
	value, ok = e.value.(string)
	return value, ok
}

// Do executes one command, as a connection of its own would: the reply is a string, an int64, a
// []any, nil or an [Error].
func (s *Server) Do(words ...any) (any, error) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = fmt.Sprint(w)
	}
	r := s.execute(&Conn{server: s}, texts)
	if r.kind == failure {
		return nil, Error(r.text)
	}
	return r.plain(), nil
}

// An Error is one that the server answers.
type Error string

func (e Error) Error() string { return string(e) }

// millis is the time of the command that is executed.
func (s *Server) millis() int64 { return s.now.UnixMilli() }

// runID is that of the process: another one after each start.
func (s *Server) runID() string { return fmt.Sprintf("%040x", s.runs) }

func (s *Server) up() string { return strconv.Itoa(int(s.now.Unix() - s.began.Unix())) }

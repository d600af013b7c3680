package server

import (
	"strconv"
	"strings"
)

// A command has its words, the first of which is its name.
type command struct {
	arity int // how many words; so many at least, if it is less than 0
	flags flags
	run   func(s *Server, c *Conn, words []string) reply
}

type flags int

const (
	writes    flags = 1 << iota
	grows           // refused when there is no memory
	outside         // not for scripts
	listeners       // for connections that have subscribed, too
)

var commands map[string]*command

func init() {
	commands = map[string]*command{}
	for _, set := range []map[string]command{connCommands, keyCommands, stringCommands, hashCommands, listCommands,
		zsetCommands,
		channelCommands, scriptCommands} {
		for name, c := range set {
			commands[name] = &c
			commands[strings.ToUpper(name)] = &c
		}
	}
}

func find(name string) *command {
	if c := commands[name]; c != nil {
		return c
	}
	return commands[strings.ToLower(name)]
}

func (c *command) takes(words []string) bool {
	return len(words) == c.arity || c.arity < 0 && len(words) >= -c.arity
}

var errMemory = reply{kind: failure, text: "OOM command not allowed when used memory > 'maxmemory'."}

// execute executes a command of a connection.
func (s *Server) execute(c *Conn, words []string) reply {
	s.now, s.wrote = s.clock(), false
	cmd := find(words[0])
	switch {
	case cmd == nil:
		return unknown(words)
	case !cmd.takes(words):
		return fault("ERR wrong number of arguments for '%s' command", strings.ToLower(words[0]))
	case len(words) > 1:
		if r, is := stranger(words); is {
			return r
		}
	}
	switch {
	case s.mayNot(words):
		return errDenied(words)
	case s.full && cmd.flags&grows != 0:
		return errMemory
	case len(c.channels)+len(c.patterns) > 0 && cmd.flags&listeners == 0:
		return fault("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "+
			"allowed in this context",
			fullName(words))
	}
	return cmd.run(s, c, words)
}

// families are the commands whose second word is a part of their names.
var families = map[string]string{
	"client": " id setname getname no-evict ",
	"pubsub": " numsub numpat ",
	"script": " load exists flush ",
}

func fullName(words []string) string {
	name := strings.ToLower(words[0])
	if families[name] == "" {
		return name
	}
	return name + "|" + strings.ToLower(words[1])
}

// stranger is the reply to a second word that is no part of a name.
func stranger(words []string) (r reply, is bool) {
	all := families[strings.ToLower(words[0])]
	if all == "" || strings.Contains(all, " "+strings.ToLower(words[1])+" ") {
		return r, false
	}
	second, _, _ := strings.Cut(words[1], "\x00")
	second = second[:min(len(second), 128)]
	return fault("ERR unknown subcommand '%s'. Try %s HELP.", second, strings.ToUpper(words[0])), true
}

func unknown(words []string) reply {
	var args strings.Builder
	for _, word := range words[1:] {
		if args.Len() >= 128 {
			break
		}
		word, _, _ = strings.Cut(word, "\x00")
		args.WriteString("'" + word[:min(len(word), 128-args.Len())] + "' ")
	}
	return fault("ERR unknown command '%s', with args beginning with: %s", words[0][:min(len(words[0]), 128)],
		args.String())
}

var (
	errSyntax = fault("ERR syntax error")
	errNumber = fault("ERR value is not an integer or out of range")
	errFloat  = fault("ERR value is not a valid float")
)

// whole reads a number as Redis does: no sign but -, no blank, no leading zero.
func whole(word string) (n int64, ok bool) {
	n, err := strconv.ParseInt(word, 10, 64)
	return n, err == nil && (word == "0" || strconv.FormatInt(n, 10) == word)
}

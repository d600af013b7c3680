package server

import "strings"

var scriptCommands = map[string]command{
	"eval": {-3, outside, func(s *Server, _ *Conn, words []string) reply {
		return s.eval(s.lua.script(words[1]), words)
	}},
	"eval_ro": {-3, outside, func(s *Server, _ *Conn, words []string) reply {
		return s.eval(s.lua.script(words[1]), words)
	}},
	"evalsha":    {-3, outside, evalSHA},
	"evalsha_ro": {-3, outside, evalSHA},
	"script":     {-2, outside, script},
}

var errNoScript = fault("NOSCRIPT No matching script. Please use EVAL.")

func evalSHA(s *Server, _ *Conn, words []string) reply {
	p := s.lua.loaded[strings.ToLower(words[1])]
	if p == nil {
		return errNoScript
	}
	return s.eval(p, words)
}

func (s *Server) eval(p *program, words []string) reply {
	n, valid := whole(words[2])
	switch {
	case !valid:
		return errNumber
	case n > int64(len(words)-3):
		return fault("ERR Number of keys can't be greater than number of args")
	case n < 0:
		return fault("ERR Number of keys can't be negative")
	case p.fault.kind != nothing:
		return p.fault
	}
	return s.lua.run(p, words[3:3+n], words[3+n:])
}

func script(s *Server, _ *Conn, words []string) reply {
	switch sub := strings.ToLower(words[1]); {
	case sub == "load" && len(words) == 3:
		p := s.lua.script(words[2])
		if p.fault.kind != nothing {
			return p.fault
		}
		return text(p.sha)
	case sub == "exists" && len(words) > 2:
		var out []reply
		for _, sha := range words[2:] {
			out = append(out, count(s.lua.loaded[strings.ToLower(sha)] != nil))
		}
		return several(out)
	case sub == "flush":
		clear(s.lua.loaded)
		return ok
	}
	return fault("ERR unknown subcommand or wrong number of arguments for '%s'. Try SCRIPT HELP.", words[1])
}

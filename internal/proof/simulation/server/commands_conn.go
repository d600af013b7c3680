package server

import (
	"fmt"
	"strings"
)

var connCommands = map[string]command{
	"ping": {-1, listeners, func(_ *Server, c *Conn, words []string) reply {
		switch {
		case len(words) > 2:
			return fault("ERR wrong number of arguments for 'ping' command")
		case len(c.channels)+len(c.patterns) > 0:
			return texts([]string{"pong", strings.Join(words[1:], "")})
		case len(words) == 2:
			return text(words[1])
		}
		return reply{kind: status, text: "PONG"}
	}},
	"hello": {-1, outside, hello},
	"auth": {-2, outside, func(*Server, *Conn, []string) reply {
		return fault("ERR AUTH <password> called without any password configured for the default user. " +
			"Are you sure your configuration is correct?")
	}},
	"select": {2, 0, func(_ *Server, _ *Conn, words []string) reply {
		n, valid := whole(words[1])
		switch {
		case !valid:
			return errNumber
		case n != 0:
			return fault("ERR DB index is out of range")
		}
		return ok
	}},
	"quit": {-1, outside | listeners, func(_ *Server, c *Conn, _ []string) reply {
		if c.push != nil {
			c.Close()
		}
		return ok
	}},
	"client": {-2, outside, client},
	"info":   {-1, 0, info},
	"time": {1, 0, func(s *Server, _ *Conn, _ []string) reply {
		return texts([]string{fmt.Sprint(s.now.Unix()), fmt.Sprint(s.now.Nanosecond() / 1000)})
	}},
	"wait": {3, outside, func(_ *Server, _ *Conn, words []string) reply {
		for _, word := range words[1:] {
			if n, valid := whole(word); !valid {
				return errNumber
			} else if n < 0 {
				return fault("ERR timeout is negative")
			}
		}
		return number(0)
	}},
}

func hello(_ *Server, c *Conn, words []string) reply {
	if len(words) > 1 && words[1] != "2" {
		if _, valid := whole(words[1]); !valid {
			return fault("ERR Protocol version is not an integer or out of range")
		}
		return fault("NOPROTO unsupported protocol version")
	}
	return several([]reply{text("server"), text("redis"), text("version"), text("7.0.15"), text("proto"), number(2),
		text("id"), number(c.id), text("mode"), text("standalone"), text("role"), text("master"), text("modules"),
		several(nil)})
}

func client(_ *Server, c *Conn, words []string) reply {
	switch strings.ToLower(words[1]) {
	case "id":
		return number(c.id)
	case "setname":
		c.name = strings.Join(words[2:], " ")
		return ok
	case "getname":
		if c.name == "" {
			return missing()
		}
		return text(c.name)
	case "no-evict":
		return ok
	}
	return errSyntax
}

func info(s *Server, _ *Conn, _ []string) reply {
	return text("# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:" + s.runID() +
		"\r\nuptime_in_seconds:" + s.up() + "\r\n\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n")
}

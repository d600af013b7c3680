package server

import "strings"

// Deny takes the right to these commands from all users; none are those that all may again.
func (s *Server) Deny(commands ...string) {
	s.denied = map[string]bool{}
	for _, name := range commands {
		s.denied[strings.ToLower(name)] = true
	}
}

// Refusals are how many commands were refused so far for want of a right: each is a line in the log of a real server.
func (s *Server) Refusals() int { return s.refusals }

// mayNot reports whether a command is denied, and counts it.
func (s *Server) mayNot(words []string) bool {
	if len(s.denied) == 0 || !s.denied[strings.ToLower(words[0])] {
		return false
	}
	s.refusals++
	return true
}

func errDenied(words []string) reply {
	return fault("NOPERM this user has no permissions to run the '%s' command", fullName(words))
}

var errDeniedInScript = fault("ERR The user executing the script can't run this command or subcommand")

// Lasting are the keys that do not expire.
func (s *Server) Lasting() (all []string) {
	for key, e := range s.keys {
		if e.ends == 0 {
			all = append(all, key)
		}
	}
	return all
}

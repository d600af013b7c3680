package server

import (
	"slices"
	"strings"
)

var channelCommands = map[string]command{
	"publish":      {3, 0, publish},
	"subscribe":    {-2, outside | listeners, subscribe},
	"psubscribe":   {-2, outside | listeners, subscribe},
	"unsubscribe":  {-1, outside | listeners, unsubscribe},
	"punsubscribe": {-1, outside | listeners, unsubscribe},
	"pubsub":       {-2, 0, pubsub},
}

// publish gives a message to the connections that listen, first to those of the channel.
func publish(s *Server, _ *Conn, words []string) reply {
	channel, message := words[1], words[2]
	n := 0
	for _, c := range s.channels[channel] {
		c.push(texts([]string{"message", channel, message}).append(nil))
		n++
	}
	for _, c := range s.conns {
		for _, pattern := range c.patterns {
			if glob(pattern, channel) {
				c.push(texts([]string{"pmessage", pattern, channel, message}).append(nil))
				n++
			}
		}
	}
	return number(n)
}

// changed is the reply to a subscription's change: it has one for each channel.
func (c *Conn) changed(kind, channel string) []byte {
	return several([]reply{text(kind), text(channel), number(len(c.channels) + len(c.patterns))}).append(nil)
}

func subscribe(s *Server, c *Conn, words []string) reply {
	kind := strings.ToLower(words[0])
	var out strings.Builder
	for _, channel := range words[1:] {
		if kind == "psubscribe" {
			c.patterns = with(c.patterns, channel)
		} else if !slices.Contains(c.channels, channel) {
			c.channels = append(c.channels, channel)
			s.channels[channel] = append(s.channels[channel], c)
		}
		out.Write(c.changed(kind, channel))
	}
	return reply{kind: ready, text: out.String()}
}

func with(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

func without[T comparable](list []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return x == one })
}

func unsubscribe(s *Server, c *Conn, words []string) reply {
	kind, from, leave := strings.ToLower(words[0]), c.channels, c.unsubscribe
	if kind == "punsubscribe" {
		from, leave = c.patterns, func(pattern string) { c.patterns = without(c.patterns, pattern) }
	}
	if len(words) > 1 {
		from = words[1:]
	}
	if len(from) == 0 {
		return several([]reply{text(kind), missing(), number(len(c.channels) + len(c.patterns))})
	}
	var out strings.Builder
	for _, channel := range slices.Clone(from) {
		leave(channel)
		out.Write(c.changed(kind, channel))
	}
	return reply{kind: ready, text: out.String()}
}

func (c *Conn) unsubscribe(channel string) {
	c.channels = without(c.channels, channel)
	all := c.server.channels
	if all[channel] = without(all[channel], c); len(all[channel]) == 0 {
		delete(all, channel)
	}
}

func pubsub(s *Server, _ *Conn, words []string) reply {
	switch strings.ToLower(words[1]) {
	case "numsub":
		var out []reply
		for _, channel := range words[2:] {
			out = append(out, text(channel), number(len(s.channels[channel])))
		}
		return several(out)
	case "numpat":
		all := map[string]bool{}
		for _, c := range s.conns {
			for _, pattern := range c.patterns {
				all[pattern] = true
			}
		}
		return number(len(all))
	}
	return errSyntax
}

package server_test

import "testing"

// TestTheModelDeniesAsRedisDoes: a user who lacks a right is refused, in scripts too, before memory is looked at.
func TestTheModelDeniesAsRedisDoes(t *testing.T) {
	p := newPair(t)
	c := p.conns[0]
	for _, full := range []bool{false, true} {
		p.fill(full)
		c.ask("ACL", "SETUSER", "default", "-lpush", "-zadd")
		p.model.Deny("lpush", "zadd")
		c.same("LPUSH", "x", "1")
		c.same("LPUSH", "x")
		c.same("ZADD", "y", "1", "a")
		c.same("RPUSH", "x", "1")
		c.same("EVAL", "return redis.pcall('LPUSH', KEYS[1], '1')", "1", "x")
		c.same("EVAL", "return redis.pcall('LPUSH', KEYS[1])", "1", "x")
		c.same("EVAL", "redis.call('DEL', KEYS[1]) redis.call('ZADD', KEYS[1], '1', 'a')", "1", "x")
		c.same("EVAL", "redis.call('SET', KEYS[1], '1')", "1", "x")
		c.ask("ACL", "SETUSER", "default", "+@all")
		p.model.Deny()
		c.same("LPUSH", "x", "1")
		c.same("EVAL", "return redis.pcall('LPUSH', KEYS[1], '1')", "1", "x")
	}
	p.fill(false)
	p.settle()
	if n := p.model.Refusals(); n != 8 {
		t.Errorf("the model has counted %d refusals", n)
	}
}

// TestTheModelOutOfMemoryAnswersAsRedisDoes: each step that clients send, by a run that has what it asks for and by
// another, on a server that is full.
func TestTheModelOutOfMemoryAnswersAsRedisDoes(t *testing.T) {
	p := newPair(t)
	for _, first := range recorded(t) {
		if delicate(first.text) {
			continue
		}
		for n := range first.keys {
			p.begin()
			r := &random{draw: func(below int) int { return 1 % below },
				steps: []step{{first.text, first.keys[n : n+1], first.args[n : n+1]}}}
			p.conns[0].same(r.step(p.now)...)
			p.pass(5)
			p.fill(true)
			p.conns[0].same(r.step(p.now)...)
			p.conns[0].same(r.step(p.now)...)
			p.fill(false)
		}
		p.settle()
	}
}

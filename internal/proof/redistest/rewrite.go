package redistest

import (
	"bytes"
	"fmt"
	"strings"
)

// Forbid lets the server refuse a command as one that does not know it, or that
// may not be used, would: with refusal, also where a script calls it.
func (p *Proxy) Forbid(command, refusal string) {
	p.rewrite(command, func([]string) []string {
		return []string{"EVAL", "return redis.error_reply(ARGV[1])", "0",
			refusal}
	})
	p.Play(command, fmt.Sprintf("return {err = %s}", luaString(refusal)))
}

// Forge answers reply, byte for byte, to each request that contains text, until stop is
// called. The server does not get the request.
func (p *Proxy) Forge(text, reply string) (stop func()) {
	f := &forgery{text, reply}
	p.update(func() { p.forgeries = append(p.forgeries, f) })
	return func() { p.update(func() { f.reply = "" }) }
}

// A forgery is what is answered in the server's place; "" is nothing any more.
type forgery struct{ contains, reply string }

func (p *Proxy) forged(words string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.forgeries {
		if f.reply != "" && strings.Contains(words, f.contains) {
			return f.reply
		}
	}
	return ""
}

// Play lets the scripts that pass find body in place of a command: Lua that
// returns what redis.pcall would, and to which command(...) is the real one.
func (p *Proxy) Play(command, body string) {
	prologue := fmt.Sprintf(prologueLua, body, luaString(strings.ToUpper(command)))
	p.rewrite("EVAL", func(words []string) []string {
		words[1] = prologue + words[1]
		return words
	})
}

// Mute swallows, while on, what the server says on its own: the messages of subscriptions.
func (p *Proxy) Mute(on bool) { p.update(func() { p.mute = on }) }

func (p *Proxy) swallows(said []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mute && bytes.HasPrefix(said, []byte("*3\r\n$7\r\nmessage\r\n"))
}

// prologueLua stands before a script that is played with. An error of call ends the script, as the server's would.
const prologueLua = `
local redis = (function(real)
  local function played(command, ...) %s end
  local function play(f, raise)
    return function(name, ...)
      if string.upper(name) ~= %s then return f(name, ...) end
      local reply = played(f, name, ...)
      if raise and type(reply) == 'table' and reply.err then error(reply.err, 0) end
      return reply
    end
  end
  return setmetatable({call = play(real.call, true), pcall = play(real.pcall, false)}, {__index = real})
end)(redis)
`

// luaString is text as Lua writes it.
func luaString(text string) string {
	return `'` + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(text) + `'`
}

// A rewriting changes the requests of one command.
type rewriting struct {
	command string
	change  func(words []string) []string
}

func (p *Proxy) rewrite(command string, change func([]string) []string) {
	p.update(func() { p.changes = append(p.changes, rewriting{command, change}) })
}

// rewritten is a request as the server gets it; raw, if nothing changes it.
func (p *Proxy) rewritten(raw []byte, words []string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := false
	for _, r := range p.changes {
		if len(words) > 0 && strings.EqualFold(words[0], r.command) {
			words, changed = r.change(words), true
		}
	}
	if !changed {
		return raw
	}
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return writeRequest(nil, list...)
}

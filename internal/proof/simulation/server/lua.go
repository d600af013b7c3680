package server

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// An interpreter runs the scripts of a server.
type interpreter struct {
	server *Server
	state  *lua.LState
	loaded map[string]*program // by their sums

	onError *lua.LFunction
}

func newInterpreter(s *Server) *interpreter {
	i := &interpreter{server: s, loaded: map[string]*program{}}
	i.state = lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 1024, RegistryMaxSize: 1 << 20,
		CallStackSize: 256})
	i.open()
	return i
}

// script is the program of a text, which the server knows from now on.
func (i *interpreter) script(text string) *program {
	p := compiled(text)
	if p.fault.kind == nothing {
		i.loaded[p.sha] = p
	}
	return p
}

func (i *interpreter) open() {
	L := i.state
	i.onError = L.NewFunction(i.place)
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		L.Push(L.NewFunction(open))
		L.Call(0, 0)
	}
	g := L.G.Global
	for _, name := range strings.Fields("dofile loadfile print module require newproxy collectgarbage _printregs " +
		"_GOPHER_LUA_VERSION") {
		g.RawSetString(name, lua.LNil)
	}
	m := g.RawGetString("math").(*lua.LTable)
	m.RawSetString("random", lua.LNil)
	m.RawSetString("randomseed", lua.LNil)
	redis := L.NewTable()
	L.SetFuncs(redis, map[string]lua.LGFunction{
		"call":         func(L *lua.LState) int { return i.call(true) },
		"pcall":        func(L *lua.LState) int { return i.call(false) },
		"error_reply":  i.errorReply,
		"status_reply": i.statusReply,
		"sha1hex":      sha1hex,
		"log":          func(*lua.LState) int { return 0 },
	})
	i.exact(g)
	g.RawSetString("redis", redis)
	g.RawSetString("cjson", newJSON(L))
	i.protect()
}

// protect has scripts make no global, and read none that is not there.
func (i *interpreter) protect() {
	L := i.state
	guard := L.NewTable()
	L.SetFuncs(guard, map[string]lua.LGFunction{
		"__index": func(L *lua.LState) int {
			L.RaiseError("Script attempted to access nonexistent global variable '%s'", L.Get(2).String())
			return 0
		},
		"__newindex": func(L *lua.LState) int {
			L.RaiseError("Attempt to modify a readonly table")
			return 0
		},
	})
	L.G.Global.Metatable = guard
}

// run runs a program.
func (i *interpreter) run(p *program, keys, args []string) reply {
	L, g := i.state, i.state.G.Global
	g.RawSetString("KEYS", i.strings(keys))
	g.RawSetString("ARGV", i.strings(args))
	L.Push(L.NewFunctionFromProto(p.proto))
	if err := L.PCall(0, 1, i.onError); err != nil {
		L.SetTop(0)
		return p.failed(err)
	}
	r := i.answer(L.Get(-1))
	L.SetTop(0)
	return r
}

func (i *interpreter) strings(words []string) *lua.LTable {
	t := i.state.CreateTable(len(words), 0)
	for _, word := range words {
		t.Append(lua.LString(word))
	}
	return t
}

// failed is what the server says of a script that has raised an error.
func (p *program) failed(err error) reply {
	var raised *lua.ApiError
	if !errors.As(err, &raised) {
		return fault("ERR %s", err)
	}
	t, placed := raised.Object.(*lua.LTable)
	if !placed {
		return fault("ERR %s", raised.Object)
	}
	said := t.RawGetString("err").String()
	if line, known := t.RawGetString("line").(lua.LNumber); known {
		return fault("%s script: %s, on @%s:%d.", oneLine(said), p.sha, chunk, int(line))
	}
	return fault("%s", oneLine(said))
}

// place makes of an error that nobody has caught a table that says in which line it was raised.
func (i *interpreter) place(L *lua.LState) int {
	t, isTable := L.Get(1).(*lua.LTable)
	if !isTable {
		t = i.field("err", "ERR "+L.Get(1).String())
	}
	if n := line(L); n > 0 {
		t.RawSetString("line", lua.LNumber(n))
	}
	L.Push(t)
	return 1
}

// line is the one that is executed in the script; 0 if none is.
func line(L *lua.LState) int {
	for level := 1; level < 3; level++ {
		if frame, found := L.GetStack(level); found {
			if L.GetInfo("l", frame, lua.LNil); frame.CurrentLine > 0 {
				return frame.CurrentLine
			}
		}
	}
	return 0
}

// answer is a value of Lua as a reply.
func (i *interpreter) answer(v lua.LValue) reply {
	switch v := v.(type) {
	case lua.LString:
		return text(string(v))
	case lua.LNumber:
		return reply{kind: integer, n: int64(v)}
	case lua.LBool:
		if v {
			return number(1)
		}
	case *lua.LTable:
		return i.answerTable(v)
	}
	return missing()
}

func (i *interpreter) answerTable(t *lua.LTable) reply {
	if err, isText := t.RawGetString("err").(lua.LString); isText {
		return fault("%s", oneLine(string(err)))
	}
	if said, isText := t.RawGetString("ok").(lua.LString); isText {
		return reply{kind: status, text: oneLine(string(said))}
	}
	list := make([]reply, 0, t.Len())
	for n := 1; ; n++ {
		v := t.RawGetInt(n)
		if v == lua.LNil {
			return several(list)
		}
		list = append(list, i.answer(v))
	}
}

// oneLine is a text as far as C has it, in one line.
func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// value is a reply as a value of Lua.
func (i *interpreter) value(r reply) lua.LValue {
	switch r.kind {
	case integer:
		return lua.LNumber(r.n)
	case bulk:
		return lua.LString(r.text)
	case status:
		return i.field("ok", r.text)
	case failure:
		return i.field("err", r.text)
	case array:
		t := i.state.CreateTable(len(r.list), 0)
		for _, part := range r.list {
			t.Append(i.value(part))
		}
		return t
	}
	return lua.LFalse
}

func (i *interpreter) field(name, value string) *lua.LTable {
	t := i.state.CreateTable(0, 1)
	t.RawSetString(name, lua.LString(value))
	return t
}

// call is redis.call, which raises what the server refuses, and redis.pcall, which returns it.
func (i *interpreter) call(raises bool) int {
	L := i.state
	r := i.ask(L)
	if r.kind != failure {
		L.Push(i.value(r))
		return 1
	}
	t := i.field("err", r.text)
	if raises {
		L.Error(t, 0)
	}
	L.Push(t)
	return 1
}

// ask executes the command whose words are the arguments.
func (i *interpreter) ask(L *lua.LState) reply {
	n := L.GetTop()
	if n == 0 {
		return fault("ERR Please specify at least one argument for this redis lib call")
	}
	words := make([]string, n)
	for j := range words {
		switch v := L.Get(j + 1).(type) {
		case lua.LString:
			words[j] = string(v)
		case lua.LNumber:
			words[j] = numeral(float64(v))
		default:
			return fault("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	return i.server.called(words)
}

// called executes a command of a script.
func (s *Server) called(words []string) reply {
	cmd := find(words[0])
	switch {
	case cmd == nil:
		return fault("ERR Unknown Redis command called from script")
	case !cmd.takes(words):
		return fault("ERR Wrong number of args calling Redis command from script")
	case cmd.flags&outside != 0:
		return fault("ERR This Redis command is not allowed from script")
	case s.mayNot(words):
		return errDeniedInScript
	case s.full && cmd.flags&grows != 0 && !s.wrote:
		return errMemory
	}
	if cmd.flags&writes != 0 {
		s.wrote = true
	}
	return cmd.run(s, nil, words)
}

func (i *interpreter) errorReply(L *lua.LState) int {
	said := strings.TrimPrefix(L.CheckString(1), "-")
	if !strings.Contains(said, " ") {
		said = "ERR " + said
	}
	L.Push(i.field("err", said))
	return 1
}

func (i *interpreter) statusReply(L *lua.LState) int {
	L.Push(i.field("ok", L.CheckString(1)))
	return 1
}

func sha1hex(L *lua.LState) int {
	L.Push(lua.LString(fmt.Sprintf("%x", sha1.Sum([]byte(L.CheckString(1))))))
	return 1
}

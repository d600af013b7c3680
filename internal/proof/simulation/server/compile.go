package server

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// A program is a script, compiled; or what is wrong with it.
type program struct {
	sha   string
	proto *lua.FunctionProto
	fault reply
}

// programs are those of all servers, by their texts: a world after the other runs the same.
var programs sync.Map

func compiled(text string) *program {
	if p, found := programs.Load(text); found {
		return p.(*program)
	}
	p, _ := programs.LoadOrStore(strings.Clone(text), compile(text))
	return p.(*program)
}

const chunk = "user_script"

func compile(text string) *program {
	sum := sha1.Sum([]byte(text))
	p := &program{sha: hex.EncodeToString(sum[:])}
	tree, err := parse.Parse(strings.NewReader(text), chunk)
	if err == nil {
		stepwise(tree)
		p.proto, err = lua.Compile(tree, chunk)
	}
	if err != nil {
		p.fault = fault("ERR Error compiling script (new function): %s", err)
	}
	return p
}

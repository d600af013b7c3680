package server

import (
	"encoding/json"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// newJSON is cjson, as far as the scripts need it.
func newJSON(L *lua.LState) *lua.LTable {
	null := L.NewUserData()
	t := L.NewTable()
	t.RawSetString("null", null)
	L.SetFuncs(t, map[string]lua.LGFunction{"decode": func(L *lua.LState) int {
		var value any
		d := json.NewDecoder(strings.NewReader(L.CheckString(1)))
		if err := d.Decode(&value); err != nil || d.More() {
			L.Error(lua.LString("Expected value but found invalid token at character 1"), 0)
		}
		L.Push(decoded(L, null, value))
		return 1
	}})
	return t
}

func decoded(L *lua.LState, null lua.LValue, value any) lua.LValue {
	switch v := value.(type) {
	case string:
		return lua.LString(v)
	case float64:
		return lua.LNumber(v)
	case bool:
		return lua.LBool(v)
	case []any:
		t := L.CreateTable(len(v), 0)
		for _, part := range v {
			t.Append(decoded(L, null, part))
		}
		return t
	case map[string]any:
		t := L.CreateTable(0, len(v))
		for name, part := range v {
			t.RawSetString(name, decoded(L, null, part))
		}
		return t
	}
	return null
}

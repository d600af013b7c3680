package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// What the interpreter's own library does otherwise than Lua 5.1.

// exact puts functions of ours in the place of the interpreter's.
func (i *interpreter) exact(g *lua.LTable) {
	L := i.state
	g.RawSetString("pcall", L.NewFunction(protected(g.RawGetString("pcall").(*lua.LFunction))))
	g.RawSetString("tonumber", L.NewFunction(toNumber(g.RawGetString("tonumber").(*lua.LFunction))))
	g.RawSetString("tostring", L.NewFunction(toString(g.RawGetString("tostring").(*lua.LFunction))))
	library := g.RawGetString("string").(*lua.LTable)
	library.RawSetString("format", L.NewFunction(format))
	library.RawSetString("match", L.NewFunction(matching(library.RawGetString("match").(*lua.LFunction))))
}

// matching is string.match: what does not match is nil, and not nothing.
func matching(other *lua.LFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		if n := other.GFunction(L); n > 0 {
			return n
		}
		L.Push(lua.LNil)
		return 1
	}
}

// protected is pcall as Redis has it: of an error of its own it returns the text.
func protected(other *lua.LFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		n := other.GFunction(L)
		if t, isTable := L.Get(-1).(*lua.LTable); isTable && n == 2 && L.Get(-2) == lua.LFalse {
			if err, isText := t.RawGetString("err").(lua.LString); isText {
				L.Pop(1)
				L.Push(err)
			}
		}
		return n
	}
}

// toNumber is tonumber. A base other than 10 is the interpreter's matter.
func toNumber(other *lua.LFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		s, isText := L.CheckAny(1).(lua.LString)
		if !isText || L.GetTop() > 1 && L.CheckInt(2) != 10 {
			return other.GFunction(L)
		}
		if n, valid := numberOf(string(s)); valid {
			L.Push(lua.LNumber(n))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	}
}

// numberOf reads a number as Lua does.
func numberOf(s string) (n float64, valid bool) {
	s = strings.Trim(s, " \t\n\v\f\r")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) < 16 {
		return float64(n), true
	}
	digits := strings.ToLower(strings.TrimLeft(s, "+-"))
	if hex, found := strings.CutPrefix(digits, "0x"); found && !strings.ContainsAny(hex, ".p_") {
		u, err := strconv.ParseUint(hex, 16, 64)
		if strings.HasPrefix(s, "-") {
			return -float64(u), err == nil
		}
		return float64(u), err == nil
	}
	return float(s)
}

func toString(other *lua.LFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		n, isNumber := L.CheckAny(1).(lua.LNumber)
		if !isNumber {
			return other.GFunction(L)
		}
		L.Push(lua.LString(shown(float64(n))))
		return 1
	}
}

// shown is a number as Lua writes it: %.14g.
func shown(f float64) string { return digits(f, 14) }

// numeral is a number as Redis writes it for a command: %.17g.
func numeral(f float64) string { return digits(f, 17) }

// digits is a number in so many digits at most.
func digits(f float64, most int) string {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < 1e14 && f != 0:
		return strconv.FormatInt(int64(f), 10)
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "-nan"
	}
	return strconv.FormatFloat(f, 'g', most, 64)
}

// format is string.format.
func format(L *lua.LState) int {
	pattern := L.CheckString(1)
	var out strings.Builder
	arg := 1
	for {
		text, rest, found := strings.Cut(pattern, "%")
		out.WriteString(text)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			out.WriteByte('%')
			pattern = rest[1:]
			continue
		}
		end := strings.IndexFunc(rest, func(c rune) bool { return !strings.ContainsRune("-+ #0123456789.", c) })
		if end < 0 {
			L.RaiseError("invalid option '%%' to 'format'")
		}
		arg++
		out.WriteString(formatted(L, arg, "%"+rest[:end], rest[end]))
		pattern = rest[end+1:]
	}
	L.Push(lua.LString(out.String()))
	return 1
}

// formatted is one argument as a directive wants it.
func formatted(L *lua.LState, arg int, directive string, kind byte) string {
	switch kind {
	case 'd', 'i':
		return fmt.Sprintf(directive+"d", int64(checkNumber(L, arg)))
	case 'u':
		return fmt.Sprintf(directive+"d", uint64(checkNumber(L, arg)))
	case 'o', 'x', 'X':
		return fmt.Sprintf(directive+string(kind), uint64(checkNumber(L, arg)))
	case 'c':
		return string([]byte{byte(checkNumber(L, arg))})
	case 'g', 'G', 'e', 'E', 'f':
		return formattedFloat(checkNumber(L, arg), directive, kind)
	case 's':
		text := checkText(L, arg)
		if len(text) < 100 || strings.Contains(directive, ".") {
			text, _, _ = strings.Cut(text, "\x00") // as C has it
		}
		if directive == "%" {
			return text
		}
		return fmt.Sprintf(directive+"s", text)
	case 'q':
		escaper := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`)
		return `"` + escaper.Replace(checkText(L, arg)) + `"`
	}
	L.RaiseError("invalid option '%%%c' to 'format'", kind)
	return ""
}

func formattedFloat(f float64, directive string, kind byte) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return digits(f, 1)
	}
	if directive == "%.0" && kind == 'f' {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	if kind|0x20 == 'g' && !strings.Contains(directive, ".") {
		directive += ".6"
	}
	return fmt.Sprintf(directive+string(kind), f)
}

func checkNumber(L *lua.LState, n int) float64 {
	switch v := L.Get(n).(type) {
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		if f, valid := numberOf(string(v)); valid {
			return f
		}
	}
	L.TypeError(n, lua.LTNumber)
	return 0
}

func checkText(L *lua.LState, n int) string {
	switch v := L.Get(n).(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return shown(float64(v))
	}
	L.TypeError(n, lua.LTString)
	return ""
}

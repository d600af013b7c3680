package step

import (
	_ "embed"
	"fmt"

	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

//go:embed output.lua
var outputLua string

// KeepOutput is the step that keeps the end of what a command printed.
var KeepOutput = link.NewScript("LINDEX", readKept, outputLua)

// OutputKeys are the keys of KeepOutput.
func OutputKeys(k wire.Keys) []string { return []string{k.Output, k.Job} }

// OutputArgs are what KeepOutput is told: who ran, and what was printed.
func OutputArgs(by lock.Holder, o lock.Output) []any {
	words := fmt.Sprintf("%s %d %d %d", wire.Word(string(o.End)), o.Status, o.Attempt, o.Total)
	tail := wire.TailText(lock.Tail{Run: by.Run, Text: lock.TailOf(o.Tail)})
	return []any{by.Run, wire.Word(wire.RecordOf(by).Host), words, o.Tail, tail}
}

// readKept reads what KeepOutput answers; both codes mean that it is kept.
func readKept(r *link.Reply) struct{} {
	if code := r.Code(); code != 1 && code != 2 {
		r.Strange()
	}
	return struct{}{}
}

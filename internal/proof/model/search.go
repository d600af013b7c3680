// Package model searches models of protocols exhaustively: every state that can be reached
// is visited, breadth first, and what a model promises is looked at on each way. The models
// stand beside what they are models of: the line's hand-over in lock/line/linemodel, the
// quorum's fence and lease in lock/quorum/fencemodel. Their tests are the point of them.
package model

import (
	"fmt"
	"strings"
)

// A Violation is a shortest way to a broken promise.
type Violation struct {
	Promise string
	Trace   []fmt.Stringer
}

func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, in %d steps:", v.Promise, len(v.Trace))
	for i, s := range v.Trace {
		fmt.Fprintf(&b, "\n%3d. %s", i+1, s)
	}
	return b.String()
}

// A System lists the states that can follow one: for each it calls emit, with a
// broken promise or "". T names a step, for the trace of a counterexample.
type System[S comparable, T fmt.Stringer] interface {
	Initial() []S
	Next(s S, emit func(step T, next S, broken string))
}

type origin[T fmt.Stringer] struct {
	from int32
	step T
}

// Search visits every state that can be reached, breadth first, and returns
// their number, and a *Violation if a promise is broken on the way.
func Search[S comparable, T fmt.Stringer](sys System[S, T]) (states int, err error) {
	seen := make(map[S]struct{})
	var queue []S
	var origins []origin[T]
	var found *Violation
	visit := func(s S, from int32, step T) {
		if _, ok := seen[s]; ok {
			return
		}
		seen[s] = struct{}{}
		queue = append(queue, s)
		origins = append(origins, origin[T]{from, step})
	}
	for _, s := range sys.Initial() {
		var none T
		visit(s, -1, none)
	}
	for i := 0; i < len(queue) && found == nil; i++ {
		sys.Next(queue[i], func(step T, next S, broken string) {
			if broken != "" && found == nil {
				found = &Violation{Promise: broken, Trace: append(trace(origins, int32(i)), step)}
			}
			visit(next, int32(i), step)
		})
	}
	if found != nil {
		return len(seen), found
	}
	return len(seen), nil
}

// trace is the way from an initial state to state i.
func trace[T fmt.Stringer](origins []origin[T], i int32) []fmt.Stringer {
	if origins[i].from < 0 {
		return nil
	}
	return append(trace(origins, origins[i].from), origins[i].step)
}

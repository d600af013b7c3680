package relay

import (
	"syscall"

	"redlockrun/internal/outset"
)

// An Action says how a signal is handled. Zero is the default action.
type Action = outset.Action

// Ignore returns the action of a signal that is ignored.
func Ignore() Action { return Action{Handler: outset.Ignore} }

// SetAction sets the action of sig, unless set is nil, and stores the previous one in get, unless
// get is nil.
func SetAction(sig syscall.Signal, set, get *Action) { outset.SetAction(int(sig), set, get) }

// Ignored reports whether sig is ignored.
func Ignored(sig syscall.Signal) bool {
	var now Action
	SetAction(sig, nil, &now)
	return now.Handler == outset.Ignore
}

// UseDefault gives sig its default action, unless it is ignored, until restore is called.
// signal.Reset would not: the runtime then keeps its handler and swallows a stop signal.
func UseDefault(sig syscall.Signal) (restore func()) {
	if Ignored(sig) {
		return func() {}
	}
	var before Action
	SetAction(sig, &Action{}, &before)
	return func() { SetAction(sig, &before, nil) }
}

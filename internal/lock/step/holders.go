package step

import (
	_ "embed"
	"errors"
	"math"
	"time"

	"redlockrun/internal/boottime"
	"redlockrun/internal/lock"
	"redlockrun/internal/lock/link"
	"redlockrun/internal/lock/wire"
)

//go:embed holders.lua
var holdersLua string

// Holders is the step that tells who has each of some locks. Its keys are HolderKeys.
var Holders = link.NewScript("GETRANGE", readHolders, holdersLua)

// A HoldersReply is the answer of the step about holders:
//
//	{1, now, lock...}   the server's clock in ms; a lock is {} if nobody has it, or {pttl, value}
//	{5, n}              the server is not to be believed for another n seconds
//	{-1, n, type}       the n-th key is no string; type is '' if nobody may know
type HoldersReply struct {
	Now   int64
	Locks []HeldLock
	Wait  time.Duration // > 0: there is no answer before
	Wrong int           // which key is something else, from 1 on; 0: none
	Kind  string        // its type
}

// A HeldLock is what stands at the key of a lock.
type HeldLock struct {
	Held  bool
	Left  time.Duration // negative: it never expires by itself
	Value string        // of any bytes, at most its first 1 KiB
}

func readHolders(r *link.Reply) (h HoldersReply) {
	switch r.Code() {
	case 1:
		h.Now = r.Whole(0)
		for r.Len() > 0 {
			r.List(func(l *link.Reply) {
				var held HeldLock
				if held.Held = l.Len() > 0; held.Held {
					held.Left, held.Value = l.Left(), l.Text()
				}
				h.Locks = append(h.Locks, held)
			})
		}
	case 5:
		h.Wait = time.Duration(r.Number(1, math.MaxInt32)) * time.Second
	case -1:
		h.Wrong, h.Kind = int(r.Number(1, math.MaxInt32)), r.Text()
	default:
		r.Strange()
	}
	return h
}

// HolderKeys are the keys of some locks, and behind them that of the pause which is wanted of the lock own.
func HolderKeys(prefix string, names []string, own string) []string {
	keys := make([]string, len(names), len(names)+1)
	for i, name := range names {
		keys[i] = wire.KeysOf(prefix, name, "").Lock
	}
	return append(keys, wire.KeysOf(prefix, own, "").Paused)
}

// HeldErrors says of each lock who has it; nil if nobody has.
func (h HoldersReply) HeldErrors(names, keys []string, clock *boottime.Clock) []*lock.HeldError {
	all := make([]*lock.HeldError, len(h.Locks))
	for i, l := range h.Locks {
		all[i] = l.heldError(names[i], keys[i], h.Now, clock)
	}
	return all
}

func (l HeldLock) heldError(name, key string, now int64, clock *boottime.Clock) *lock.HeldError {
	if !l.Held {
		return nil
	}
	e := &lock.HeldError{Name: name, Key: key, TTL: l.Left}
	if e.Pause = wire.ReadPause(l.Value); e.Pause == nil {
		e.Holder, e.Since = wire.ReadRecord(l.Value, now, clock)
	}
	return e
}

// Fault is why the reply tells nothing about these keys; nil if it does.
func (h HoldersReply) Fault(keys []string) error {
	switch {
	case h.Wrong == 0 && len(h.Locks) == len(keys):
		return nil
	case h.Wrong == 0 || h.Wrong > len(keys):
		return errors.New("read reply: it is about other keys")
	}
	return &lock.NotLockError{Key: keys[h.Wrong-1], What: lock.TypeName(h.Kind)}
}

// Package takesignals has outset.TakeSignals called in a program that imports it, before
// nearly everything else. It is redlockrun itself that does: a test, or another program,
// wants its signals treated as usual.
package takesignals

import "redlockrun/internal/outset"

func init() { outset.TakeSignals() }

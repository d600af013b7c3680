package wire

import (
	"strconv"

	"redlockrun/internal/lock"
)

// numbers are the constants that the steps know as WIRE.<name>; times are in ms.
var numbers = map[string]int64{
	"Protocol":          Protocol,
	"RunIDLen":          lock.RunIDLen,
	"RecordEnd":         RecordMax - 1,
	"MaxEntry":          maxEntry,
	"MaxOutputEntry":    MaxOutputEntry,
	"MostOutputs":       MostOutputs,
	"MaxSlot":           maxSlotState,
	"MostSlots":         MostSlots,
	"MostPauses":        mostPauses,
	"MostOutputBytes":   MostOutputBytes,
	"Remembered":        Remembered.Milliseconds(),
	"SlotsRemembered":   SlotsRemembered.Milliseconds(),
	"OutputRemembered":  OutputRemembered.Milliseconds(),
	"WaitersRemembered": WaitersRemembered.Milliseconds(),
	"Unconfirmed":       Unconfirmed.Milliseconds(),
	"Untold":            Untold.Milliseconds(),
	"Silent":            Silent.Milliseconds(),
	"Tombstone":         Tombstone.Milliseconds(),
	"Own":               int64(Own),
	"OwnOlder":          int64(OwnOlder),
	"OwnNewer":          int64(OwnNewer),
	"Free":              int64(Free),
	"Others":            int64(Others),
}

// Number is the constant that the steps know as WIRE.<name>, as they are sent it.
func Number(name string) string {
	n, ok := numbers[name]
	if !ok {
		panic("no number of the wire is called " + name)
	}
	return strconv.FormatInt(n, 10)
}

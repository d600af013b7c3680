package locktest

import (
	"strconv"
	"strings"

	"redlockrun/internal/lock"
)

// A Floor is a fence, and how a step that takes a free lock answers it: 1 taken, -2 it is
// no fence, -3 only Protocol and later ones may touch the lock.
type Floor struct {
	Fence    string
	Code     int64
	Protocol int64
}

// Floors are fences of every form, right ones and wrong ones.
func Floors() []Floor {
	known, next := strconv.Itoa(lock.Protocol), int64(lock.Protocol+1)
	floors := []Floor{
		{"1763790000000", 1, 0},
		{"1763790000000 p0", 1, 0},
		{"1763790000000 p" + known, 1, 0},
		{"1763790000000 p" + strconv.FormatInt(next, 10), -3, next},
		{"0 p12", -3, 12},
		{"1763790000000 p999999999", -3, lock.MostProtocol},
		{"9007199254740991 p3", -3, 3}, // what numbers there are is for that release to say
	}
	for _, wrong := range []string{
		"", " ", "p2", " p2", "1763790000000 ", "1763790000000 p", "1763790000000 2", "1763790000000p2", "1763790000000  p2",
		"1763790000000 p2 ", "1763790000000 p-2", "1763790000000 p2.5", "1763790000000 p2 p0", "1763790000000 p0 p0", "1763790000000 q2",
		"1763790000000 P2", "1763790000000\tp2", "1763790000000 p2\n", "1763790000000 p1000000000", "1763790000000 p0\x00", "-1 p2", "1e3 p2",
		"9007199254740991", "9007199254740991 p0", strings.Repeat("9", 40), strings.Repeat("9", 40) + " p2",
		strings.Repeat("0", 32) + "x", strings.Repeat("0", 29) + " p2" + "x", strings.Repeat("0", 29) + " p1" + "x",
	} {
		floors = append(floors, Floor{wrong, -2, 0})
	}
	return floors
}

package locktest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"redlockrun/internal/lock/wire"
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
	known, next := strconv.Itoa(wire.Protocol), int64(wire.Protocol+1)
	floors := []Floor{
		{"1763790000000", 1, 0},
		{"1763790000000 p0", 1, 0},
		{"1763790000000 p" + known, 1, 0},
		{"1763790000000 p" + strconv.FormatInt(next, 10), -3, next},
		{"0 p12", -3, 12},
		{"1763790000000 p999999999", -3, wire.MostProtocol},
		{"9007199254740991 p3", -3, 3}, // what numbers there are is for that release to say
	}
	for _, wrong := range []string{
		"", " ", "p2", " p2", "1763790000000 ", "1763790000000 p", "1763790000000 2", "1763790000000p2",
		"1763790000000  p2",
		"1763790000000 p2 ", "1763790000000 p-2", "1763790000000 p2.5", "1763790000000 p2 p0", "1763790000000 p0 p0",
		"1763790000000 q2",
		"1763790000000 P2", "1763790000000\tp2", "1763790000000 p2\n", "1763790000000 p1000000000",
		"1763790000000 p0\x00", "-1 p2", "1e3 p2",
		"9007199254740991", "9007199254740991 p0", strings.Repeat("9", 40), strings.Repeat("9", 40) + " p2",
		strings.Repeat("0", 32) + "x", strings.Repeat("0", 29) + " p2" + "x", strings.Repeat("0", 29) + " p1" + "x",
	} {
		floors = append(floors, Floor{wrong, -2, 0})
	}
	return floors
}

var aFence = regexp.MustCompile(`^([0-9]+)(?: p([0-9]{1,9}))?$`)

// FloorOf reads any text in the place of a fence, as a step must.
func FloorOf(fence string) Floor {
	parts := aFence.FindStringSubmatch(fence)
	if parts == nil || len(fence) > 32 {
		return Floor{fence, -2, 0}
	}
	if floor, _ := strconv.ParseInt(parts[2], 10, 64); floor > wire.Protocol {
		return Floor{fence, -3, floor}
	}
	if last, err := strconv.ParseInt(parts[1], 10, 64); err != nil || last+1 >= 1<<53 {
		return Floor{fence, -2, 0}
	}
	return Floor{fence, 1, 0}
}

// FuzzFloors has a step answer any text in the place of a fence; take asks it for the free
// lock, with that fence, and returns the code of its answer and, after -3, the protocol.
func FuzzFloors(f *testing.F, take func(t *testing.T, fence string) (code, protocol int64)) {
	for _, c := range Floors() {
		if FloorOf(c.Fence) != c {
			f.Errorf("%q is read as %+v, want %+v", c.Fence, FloorOf(c.Fence), c)
		}
		f.Add(c.Fence)
	}
	f.Fuzz(func(t *testing.T, fence string) {
		if code, protocol := take(t, fence); (Floor{fence, code, protocol}) != FloorOf(fence) {
			t.Errorf("%q is answered %d, %d, want %+v", fence, code, protocol, FloorOf(fence))
		}
	})
}

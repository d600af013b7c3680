package lock

import (
	"strconv"
	"strings"
)

// A name with permits has several locks: the permits, of which a run takes one or more, and the
// gate, behind which runs collect them one after the other. The name of such a lock is the name that
// users know, and a part. A store treats it like any other: only its keys, or its file, show the part.

// MostPermits is how many permits a name may have.
const MostPermits = 64

const (
	partMark = "\x1f" // no name of a user has a control character
	gate     = "gate"
)

// GateOf returns the name of the gate to the permits of a name.
func GateOf(name string) string { return name + partMark + gate }

// PermitOf returns the name of the n-th permit of a name, from 1 to MostPermits.
func PermitOf(name string, n int) string { return name + partMark + strconv.Itoa(n) }

// PermitsOf returns the names of the first n permits of a name, in order.
func PermitsOf(name string, n int) []string {
	permits := make([]string, n)
	for i := range permits {
		permits[i] = PermitOf(name, i+1)
	}
	return permits
}

// SplitPart returns the name that users know of a lock, and its part: "gate", the number of a permit,
// or "" for a lock that is no part. What follows a name but is no part belongs to the name.
func SplitPart(lockName string) (name, part string) {
	name, part, _ = strings.Cut(lockName, partMark)
	if part == gate || PermitNumber(part) > 0 {
		return name, part
	}
	return lockName, ""
}

// PartOf undoes SplitPart; "" if there is no such part.
func PartOf(name, part string) string {
	if name == "" || part != gate && PermitNumber(part) == 0 {
		return ""
	}
	return name + partMark + part
}

// PermitNumber returns the number that a part is; 0 if it is no permit's.
func PermitNumber(part string) int {
	n, err := strconv.Atoi(part)
	if err != nil || n < 1 || n > MostPermits || strconv.Itoa(n) != part {
		return 0
	}
	return n
}

// Listed returns how the set of names has the lock of the request. A permit, or a gate that a run
// holds, stands there as the last of the permits that its run knows of: the set tells how many there are.
func (r *Request) Listed() string {
	if r.Holder.Permits == 0 {
		return r.Name
	}
	name, _ := SplitPart(r.Name)
	return PermitOf(name, r.Holder.Permits)
}

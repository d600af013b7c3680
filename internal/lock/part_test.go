package lock

import "testing"

func TestAPartIsSplitFromItsName(t *testing.T) {
	for name, want := range map[string][2]string{
		"job": {"job", ""}, "a/1": {"a/1", ""}, GateOf("a/1"): {"a/1", "gate"}, PermitOf("a", 64): {"a", "64"},
		PermitOf("a", 65): {PermitOf("a", 65), ""}, "a" + partMark + "01": {"a" + partMark + "01", ""},
		"a" + partMark: {"a" + partMark, ""}, GateOf("a") + "s": {GateOf("a") + "s", ""},
	} {
		if base, part := SplitPart(name); base != want[0] || part != want[1] {
			t.Errorf("%q: %q, %q", name, base, part)
		}
	}
}

// The set of names tells how many permits there are: each run lists the number that it knows.
func TestAPermitIsListedAsTheLastOfItsName(t *testing.T) {
	for _, name := range []string{GateOf("job"), PermitOf("job", 1)} {
		r := Request{Name: name, Holder: Holder{Permits: 3}}
		if r.Listed() != PermitOf("job", 3) {
			t.Errorf("%q is listed as %q", name, r.Listed())
		}
	}
	if r := (Request{Name: "job"}); r.Listed() != "job" {
		t.Error(r.Listed())
	}
}

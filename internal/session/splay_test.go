package session

import (
	"fmt"
	"testing"
	"time"
)

func TestAPartIsAlwaysTheSameAndHostsDiffer(t *testing.T) {
	const hosts, parts = 10_000, 10
	var counted [parts]int
	for i := range hosts {
		host := fmt.Sprintf("web-%d", i)
		part := partOf(time.Hour, "job", host)
		if part < 0 || part >= time.Hour || part != partOf(time.Hour, "job", host) ||
			part == partOf(time.Hour, "other", host) {
			t.Fatalf("%s: %s", host, part)
		}
		counted[part/(time.Hour/parts)]++
	}
	for i, n := range counted {
		if n < hosts/parts*9/10 || n > hosts/parts*11/10 {
			t.Errorf("%d of %d hosts wait for %d to %d tenths of the splay", n, hosts, i, i+1)
		}
	}
	if partOf(0, "job", "web-1") != 0 {
		t.Error("there is a part of nothing")
	}
}
